"""What `control` may say: thresholds that would have the controller go to and fro are refused."""

from __future__ import annotations

import pytest
import yaml
from pydantic import ValidationError

from gateway.watch.control import Controlling
from gateway.watch.file import WatchFile
from tests.watch import plans


def test_nothing_is_done_unless_somebody_says_so() -> None:
    assert Controlling().mode == "observe"
    assert WatchFile().control == Controlling()


def test_the_shipped_file_says_what_is_the_default() -> None:
    shipped = yaml.safe_load((plans.ROOT / "rules" / "watch.yaml").read_text(encoding="utf-8"))
    assert WatchFile.model_validate(shipped).control == Controlling()
    assert set(shipped["control"]) == set(Controlling.model_fields)


@pytest.mark.parametrize(
    ("wrong", "fix"),
    [
        ({"hits": {"low": 0.6, "high": 0.6}}, "`low` must be below `high`"),
        ({"latency": {"least": -0.1, "back": -0.05}}, "`back` can't be above `least`"),
        ({"consistency": {"low": 0.9, "back": 0.85}}, "`back` can't be below `low`"),
    ],
)
def test_thresholds_that_leave_no_room_between_are_refused(wrong: dict[str, object], fix: str) -> None:
    with pytest.raises(ValidationError, match=fix):
        Controlling.model_validate(wrong)


@pytest.mark.parametrize("wrong", [{"mode": "on"}, {"acts_an_hour": 0}, {"recovery": {"share": 0}}, {"hits": {"x": 1}}])
def test_a_word_it_does_not_know_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Controlling.model_validate(wrong)
