"""Names: of places, houses and people, codes and addresses, whatever stands in quotes. Each must be in both questions.

A Chinese name is known by what it ends in (a bank, a street, a teacher); an English one by its capitals, which tell why
two questions differ but never make them differ, for a name may be typed without.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from gateway.gates._names import ROWS, SUFFIXES, SURNAMES, TITLES
from gateway.gates._rows import Table, table
from gateway.gates._text import RAW, Token, Tokens

TABLE: Table = table("entity", ROWS)

_LONGEST = 5  # characters of a name before its suffix
_CAPITAL = re.compile(r"(?<![.!?:]\s)(?<=\s)[A-Z][\w'&-]*|\b[A-Z]{2,}\w*\b")


def joined(tokens: Tokens) -> Tokens:
    """The tokens with each Chinese name, which came in single characters, as one."""
    found: list[Token] = []
    for token in tokens:
        if token.value in SUFFIXES or token.value in TITLES:
            start = _start(found, token.value in TITLES)
            if start < len(found):
                name = "".join(piece.value for piece in found[start:]) + token.value
                del found[start:]
                token = Token("entity", name)
        found.append(token)
    return found


def _start(found: Tokens, titled: bool) -> int:
    """Where the name begins that ends behind these tokens; their end if none does."""
    start = len(found)
    while start and len(found) - start < _LONGEST and _unread(found[start - 1]):
        start -= 1
        if titled and found[start].value in SURNAMES:
            return start
    return len(found) if titled else start


def _unread(token: Token) -> bool:
    """Whether a token may be part of a name: a character that is no word, or a shorter name ("中山" of "中山路")."""
    if token.gate == "entity":
        return token.value[-1] in SUFFIXES
    return token.gate in (RAW, "polarity") and len(token.value) == 1 and "\u4e00" <= token.value <= "\u9fff"


def named(text: str, words: Collection[str]) -> bool:
    """Whether one of these words stands in the text like a name, with a capital where none has to be."""
    if text.isupper():
        return False
    return any(match.group().lower().startswith(word) for match in _CAPITAL.finditer(text) for word in words if word)
