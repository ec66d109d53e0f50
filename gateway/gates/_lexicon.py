"""All words that any gate knows: where Chinese text is cut, and what a word or phrase stands for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gateway.gates import (
    _asked,
    _comparative,
    _date,
    _entity,
    _function,
    _names,
    _negation,
    _number,
    _operations,
    _phrases,
    _polarity,
    _synonyms,
    _unit,
)
from gateway.gates._common import WORDS as COMMON
from gateway.gates._lemma import VERBS
from gateway.gates._rows import Table
from gateway.gates._text import RAW, Token, Tokens, each
from gateway.gates._whole import WORDS

# Where two tables have a word, the later one has it.
MEANINGS: Table = {
    **_function.TABLE,
    **_synonyms.TABLE,
    **_polarity.TABLE,
    **_comparative.TABLE,
    **_asked.TABLE,
    **_unit.TABLE,
    **_date.TABLE,
    **_entity.TABLE,
    **_negation.TABLE,
}
_HAN_WORDS = frozenset(
    word
    for word in (
        *MEANINGS,
        *WORDS,
        *COMMON,
        *_unit.SEGMENTS,
        *_date.SEGMENTS,
        *_operations.OPERATIONS,
        *_operations.ACTORS,
        *_operations.ARROWS,
        *_names.SUFFIXES,
        *_names.TITLES,
        *each(_phrases.ASPECTS),
    )
    if word and not word.isascii()
)
_LONGEST = 1 + max(map(len, _HAN_WORDS))


def _lengths(words: Iterable[Sequence[str]]) -> Mapping[str, Sequence[int]]:
    """For each beginning the lengths of what begins so, the longest first."""
    found: dict[str, set[int]] = {}
    for word in words:
        found.setdefault(word[0], set()).add(len(word))
    return {first: sorted(lengths, reverse=True) for first, lengths in found.items()}


_LENGTHS = _lengths(_HAN_WORDS)
_PHRASES = _lengths(phrase.split(" ") for phrase in MEANINGS)
_TO = Token(RAW, "to")  # before a verb it says nothing
_WORD, _UNKNOWN = 10, 15  # what a text is charged for a word, and for a character that is in none


def cut(text: str) -> Sequence[str]:
    """Chinese text as words: as few of them, and as few unknown characters, as can be."""
    numerals = {match.start(): match.end() for match in _number.NUMERAL.finditer(text)}
    costs = [0] * (len(text) + 1)
    ends = [0] * len(text)
    for start in range(len(text) - 1, -1, -1):
        single = (costs[start + 1] + _UNKNOWN, 0, start + 1)
        stops = _stops(text, start, numerals)
        costs[start], _, ends[start] = min([single, *((costs[stop] + _WORD, rank, stop) for rank, stop in stops)])
    words, place = [], 0
    while place < len(text):
        words.append(text[place : ends[place]])
        place = ends[place]
    return words


def _stops(text: str, start: int, numerals: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    """Where a numeral or a word can end that starts here, and which is to be preferred: a numeral, then a long word."""
    if start in numerals:
        yield 0, numerals[start]
    for length in _LENGTHS.get(text[start], ()):
        if start + length <= len(text) and text[start : start + length] in _HAN_WORDS:
            yield _LONGEST - length, start + length


def understood(tokens: Tokens) -> Tokens:
    """The tokens with every word and phrase that has a meaning as the tokens it stands for, the longest first."""
    found: list[Token] = []
    place = 0
    while place < len(tokens):
        meaning, length = _meaning(tokens, place)
        found += meaning
        place += length
    return found


def _meaning(tokens: Tokens, place: int) -> tuple[Tokens, int]:
    token = tokens[place]
    if token.gate == RAW:
        for length in _PHRASES.get(token.value, ()):
            phrase = tokens[place : place + length]
            if len(phrase) == length and all(part.gate == RAW for part in phrase):
                meaning = MEANINGS.get(" ".join(part.value for part in phrase))
                if meaning is not None:
                    return meaning, length
    if token == _TO:
        return (() if place + 1 < len(tokens) and tokens[place + 1].value in VERBS else (token,)), 1
    return (token,), 1
