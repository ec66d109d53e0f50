"""Shares of clients who complain, by what is sure of them."""

from __future__ import annotations

import pytest

from gateway.symptoms import Feedback
from gateway.symptoms.complaints import Plug
from tests.symptoms.facts import lights, seen


@pytest.mark.parametrize(
    ("count", "complaints", "light"),
    [(1000, 5, "green"), (1000, 30, "yellow"), (1000, 100, "red"), (20, 1, "green"), (19, 19, "grey")],
)
def test_the_lower_bound_decides(count: int, complaints: int, light: str) -> None:
    assert lights(Plug(), feedback=Feedback("file", count, complaints, [("事实错误", 2)])) == [light]


def test_the_words_are_told() -> None:
    (sign,) = seen(Plug(), feedback=Feedback("file", 100, 50, [("事实错误", 30)]))
    assert "事实错误 30" in sign.seen.zh
    assert lights(Plug()) == ["grey"]
