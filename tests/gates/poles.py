"""What must hold of every table of poles, whatever its language."""

from __future__ import annotations

from collections.abc import Sequence

from gateway.gates._rows import key
from tests.gates.questions import differs

Sides = list[list[str]]


def passing(question: str, sides: Sides) -> list[tuple[str, str]]:
    """The words of one side that, put into a question, pass for one of the other."""
    left, right = sides
    return [(a, b) for a in left for b in right if not differs(question.format(a), question.format(b))]


def in_two_sides(rows: Sequence[Sides]) -> set[str]:
    """The words that stand for more than one pole."""
    said = {(key(word), side[0]) for sides in rows for side in sides for word in side}
    words = [word for word, _ in said]
    return {word for word in words if words.count(word) > 1}
