"""`trials` of watch.yaml: the defaults, and what is refused."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from gateway.watch.trying import Trying


def test_a_tenth_of_the_sessions_is_tried_on() -> None:
    assert (Trying().share, Trying().risk) == (0.1, 0.05)


@pytest.mark.parametrize(
    "wrong", [{"share": 0}, {"share": 1}, {"risk": 0.5}, {"looks": 0}, {"least_pairs": 3}, {"margins": {"left": 0}}]
)
def test_what_makes_no_sense_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Trying.model_validate(wrong)
