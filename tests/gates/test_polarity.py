"""Words that turn a question round."""

from __future__ import annotations

import pytest

from gateway.gates import _poles_en, _poles_zh
from gateway.gates._polarity import TABLE
from gateway.gates._rows import rows
from tests.gates.questions import differs


@pytest.mark.parametrize("text", [_poles_en.PAIRS, _poles_zh.PAIRS])
def test_there_are_many_pairs_and_each_has_two_sides(text: str) -> None:
    pairs = list(rows(text))
    assert len(pairs) >= 120
    assert [sides for sides in pairs if len(sides) != 2 or not all(sides)] == []


def test_every_word_is_one_token_of_the_gate() -> None:
    assert {len(read) for read in TABLE.values()} == {1}
    assert {read[0].gate for read in TABLE.values()} == {"polarity"}


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("How do I turn on wifi?", "How do I turn off wifi?"),
        ("How do I turn the wifi on?", "How do I turn the wifi off?"),
        ("Is it with or without sugar?", "Is it with sugar?"),
        ("怎么开机？", "怎么关机？"),
        ("怎么买入？", "怎么卖出？"),
    ],
)
def test_a_pole_is_not_the_other(a: str, b: str) -> None:
    assert differs(a, b)
