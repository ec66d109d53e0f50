"""Words that say the same, in both languages."""

from __future__ import annotations

import pytest

from gateway.gates import _synonyms, _synonyms_zh
from gateway.gates._lemma import lemma
from gateway.gates._lexicon import understood
from gateway.gates._rows import key, rows
from gateway.gates._text import RAW, Token

ROWS = list(rows(_synonyms._EN))


@pytest.mark.parametrize("text", [_synonyms._EN, _synonyms_zh.ROWS])
def test_no_word_says_two_things(text: str) -> None:
    assert [sides for sides in rows(text) if len(sides) != 1] == []
    said = {(key(word), side[0]) for sides in rows(text) for side in sides for word in side}
    assert len(dict(said)) == len(said)


@pytest.mark.parametrize("words", [sides[0] for sides in ROWS if len(sides[0]) > 1], ids=lambda words: words[0])
def test_a_word_passes_for_another_of_its_row(words: list[str]) -> None:
    said = {word: understood([Token(RAW, lemma(part)) for part in word.split()]) for word in words}
    assert {word: read for word, read in said.items() if read != said[words[0]]} == {}
