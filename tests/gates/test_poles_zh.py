"""The poles of the language: each row, tried in a question."""

from __future__ import annotations

from gateway.gates._poles_zh import PAIRS
from gateway.gates._rows import rows
from tests.gates.poles import in_two_sides, passing

ROWS = list(rows(PAIRS))
QUESTION = "哪些东西{}？"


def test_no_word_of_one_side_passes_for_one_of_the_other() -> None:
    assert [pair for sides in ROWS for pair in passing(QUESTION, sides)] == []


def test_no_word_is_in_two_sides() -> None:
    assert in_two_sides(ROWS) == set()
