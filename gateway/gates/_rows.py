"""Tables of words as they are easiest to read and to add to: one row a line, `,` between words, `|` between sides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from gateway.gates._lemma import lemma
from gateway.gates._text import Token

Table = Mapping[str, tuple[Token, ...]]  # a word or phrase under its key, and the tokens it stands for


def rows(text: str) -> Iterator[list[list[str]]]:
    """The sides of each row, and the words of each side."""
    for line in text.splitlines():
        if line.strip():
            yield [[word.strip() for word in side.split(",") if word.strip()] for side in line.split("|")]


def key(phrase: str) -> str:
    """What a phrase is looked up by: Chinese as it is, English by the lemmas of its words."""
    return " ".join(lemma(word) for word in phrase.split())


def table(gate: str, text: str) -> Table:
    """Each side of each row stands for one token, whose value is the first word of the side."""
    return {key(word): (Token(gate, key(side[0])),) for sides in rows(text) for side in sides for word in side}


def words(text: str) -> Sequence[str]:
    """The keys of all words of a table, whatever they stand for."""
    return [key(word) for sides in rows(text) for side in sides for word in side]
