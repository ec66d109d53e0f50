"""Common words."""

from __future__ import annotations

from gateway.gates._common import WORDS
from gateway.gates._lexicon import cut


def test_none_is_cut() -> None:
    assert [word for word in WORDS if list(cut(word)) != [word]] == []


def test_a_text_of_two_is_mostly_cut_between_them() -> None:
    words = sorted(WORDS)
    pairs = list(zip(words, reversed(words), strict=True))
    right = [pair for pair in pairs if list(cut("".join(pair))) == list(pair)]
    assert len(right) / len(pairs) > 0.98
