"""Words and patterns of YAML, found in a text in linear time, whatever they are (RE2).

English words stand alone ("may" is not in "mayor"); Chinese ones need not, since nothing stands between words there.
What looks like a finding and is none is named too, as `innocent`: it is preferred where both could begin, and eats what
it covers, so that 尽可能 is no 可能.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import re2
from pydantic import AfterValidator, Field

from gateway.plug import Strict

MEMORY = 16 << 20  # bytes that one expression may use; RE2 drops and rebuilds states beyond it
_SPELLED = {" ": r"\s{1,2}", "'": "['’]", "’": "['’]"}
_OPENING = tuple(mark.encode() for mark in "\"'“‘「『《`")
_CLOSING = tuple(mark.encode() for mark in "\"'”’」』》`")


def _readable(pattern: str) -> str:
    if _compiled(pattern).search(b"") is not None:
        raise ValueError(f"{pattern!r} can match the empty text, so it would match everywhere; ask for one character")
    return pattern


def _compiled(expression: str) -> re2._Regexp:
    options = re2.Options()
    options.max_mem = MEMORY
    options.never_capture = True
    options.log_errors = False
    try:
        return re2.compile(f"(?i){expression}", options)
    except re2.error as fault:
        raise ValueError(
            f"RE2 can't take {expression!r:.80}: {fault.args[0]!r}; write it without look-around, or smaller"
        ) from fault


Pattern = Annotated[str, AfterValidator(_readable)]
Word = Annotated[str, Field(min_length=1, pattern=r"\S")]


class Phrases(Strict):
    """What is looked for in one language. Case does not matter. Patterns are RE2's."""

    words: tuple[Word, ...] = ()
    patterns: tuple[Pattern, ...] = ()
    innocent: tuple[Pattern, ...] = Field(default=(), description="Patterns that look like a finding and are none.")
    weight: float | None = Field(default=None, gt=0, le=20, description="Of this language, if it differs.")


class Finder:
    """Finds what some phrases say. `mentions`: whether it counts in quotation marks too, as in: the word "maybe"."""

    def __init__(self, phrases: Sequence[Phrases], *, mentions: bool = True) -> None:
        innocent = [pattern for each in phrases for pattern in each.innocent]
        wanted = [worded(word) for each in phrases for word in each.words]
        wanted += [pattern for each in phrases for pattern in each.patterns]
        self._any = _compiled(_either([*innocent, *wanted])) if wanted else None
        self._innocent = _compiled(_either(innocent)) if innocent else None
        self._mentions = mentions

    def found(self, text: bytes) -> Iterator[bytes]:
        """The findings in a text (UTF-8), in their order, none over another."""
        for match in self._any.finditer(text) if self._any else ():
            start, end = match.span()
            if self._counts(text, start, end):
                yield text[start:end]

    def _counts(self, text: bytes, start: int, end: int) -> bool:
        if self._innocent and self._innocent.fullmatch(text[start:end]):
            return False
        return self._mentions or not (text.endswith(_OPENING, 0, start) and text.startswith(_CLOSING, end))


def worded(word: str) -> str:
    """The expression of a word or phrase as it may stand in a text: other spaces, other apostrophes."""
    body = "".join(_SPELLED.get(char) or re2.escape(char) for char in word.strip())
    return rf"{_edge(word.strip()[0])}{body}{_edge(word.strip()[-1])}"


def _edge(char: str) -> str:
    return r"\b" if char.isascii() and char.isalnum() else ""


def _either(expressions: Sequence[str]) -> str:
    return "|".join(f"(?:{one})" for one in expressions).join(("(?:", ")"))
