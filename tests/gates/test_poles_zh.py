"""The poles of the language: each row, tried in a question."""

from __future__ import annotations

import pytest

from gateway.gates._poles_zh import PAIRS
from gateway.gates._rows import key, rows
from tests.gates.questions import differs

ROWS = list(rows(PAIRS))
QUESTION = "哪些东西{}？"


@pytest.mark.parametrize("sides", ROWS, ids=lambda sides: f"{sides[0][0]} | {sides[1][0]}")
def test_no_word_of_one_side_passes_for_one_of_the_other(sides: list[list[str]]) -> None:
    left, right = sides
    assert [(a, b) for a in left for b in right if not differs(QUESTION.format(a), QUESTION.format(b))] == []


def test_no_word_is_in_two_sides() -> None:
    said = {(key(word), side[0]) for sides in ROWS for side in sides for word in side}
    assert len(dict(said)) == len(said)
