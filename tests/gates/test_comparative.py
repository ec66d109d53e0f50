"""More and less, at least and at most, the first and the last of a scale."""

from __future__ import annotations

import pytest

from gateway.gates._comparative import PAIRS
from gateway.gates._rows import key, rows
from tests.gates.questions import differs, told

ROWS = list(rows(PAIRS))


@pytest.mark.parametrize("sides", ROWS, ids=lambda sides: f"{sides[0][0]} | {sides[1][0]}")
def test_the_sides_of_a_row_are_told_apart(sides: list[list[str]]) -> None:
    left, right = sides
    chinese = not left[0].isascii()
    question = "哪些东西{}3" if chinese else "Which things are {} 3"
    assert [(a, b) for a in left for b in right if not differs(question.format(a), question.format(b))] == []


def test_no_word_is_in_two_sides() -> None:
    said = {(key(word), side[0]) for sides in ROWS for side in sides for word in side}
    assert len(dict(said)) == len(said)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("more than 5", ["more than"]),
        ("no more than 5", ["at most"]),
        ("up to 5", ["at most"]),
        ("不超过5人", ["不高于"]),
        ("5人以上", ["以上"]),
        ("最便宜的", ["最便宜"]),
    ],
)
def test_a_limit_has_one_name(text: str, wanted: list[str]) -> None:
    assert told("comparative", text) == wanted


def test_a_limit_said_with_a_denial_is_no_denial() -> None:
    assert told("negation", "不超过5人") == told("negation", "no more than 5") == []
