"""Shares of answers that hedge, by what is sure of them."""

from __future__ import annotations

import pytest

from gateway.symptoms import Answers
from gateway.symptoms.hedging import Plug
from tests.symptoms.facts import lights, seen


@pytest.mark.parametrize(
    ("count", "hedging", "light"),
    [
        (1000, 100, "green"),
        (1000, 200, "yellow"),
        (1000, 500, "red"),
        (40, 7, "green"),
        (29, 29, "grey"),
        (0, 0, "grey"),
    ],
)
def test_the_lower_bound_decides(count: int, hedging: int, light: str) -> None:
    assert lights(Plug(), answers=Answers("log", count, hedging, [("可能", 3)])) == [light]


def test_the_words_are_told() -> None:
    (sign,) = seen(Plug(), answers=Answers("log", 100, 60, [("可能", 30), ("perhaps", 9)]))
    assert "可能 30, perhaps 9" in sign.seen.en
    assert lights(Plug()) == ["grey"]
