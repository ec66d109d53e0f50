"""`type: entity`: domain terms (order numbers, names of products, numbers of regulations) that no cut may split.

A term is also where an error begins: a wrong order number is wrong from its first character on. So a finding inside a
term sends the cut back to the term's start, and generation may resume right there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import re2
from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from gateway.anchors import Closed, LocalSpec, Marks, Tape
from gateway.anchors._sentences import sentence_ends

LONGEST = 256  # characters of a term; what is longer may be split
_MEMORY = 16 << 20  # bytes that one expression may use
_SURROGATES = re.compile("[\ud800-\udfff]")  # RE2 reads UTF-8, which has none


def _compile(expression: str, ignore_case: bool) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    options.case_sensitive = not ignore_case
    try:
        return re2.compile(expression, options)
    except re2.error as fault:
        raise ValueError(f"RE2 can't take {expression!r}: {fault.args[0]!r}; write it without look-around") from fault


def _usable(expression: str) -> str:
    if _compile(expression, ignore_case=False).fullmatch(""):
        raise ValueError(f"{expression!r} matches the empty text; a term has at least one character")
    return expression


class Plug(LocalSpec):
    """Terms, as expressions (RE2) or as they are written (`words`, or the lines of `file`; `#` begins a comment)."""

    type: Literal["entity"] = "entity"
    patterns: tuple[Annotated[str, AfterValidator(_usable)], ...] = Field(
        default=(), examples=[[r"\bORD-\d{6,12}\b", r"〔\d{4}〕\d{1,4}号"]]
    )
    words: tuple[Annotated[str, Field(min_length=1, max_length=LONGEST)], ...] = Field(
        default=(), examples=[["白金信用卡", "Platinum Card"]]
    )
    file: Path | None = Field(default=None, description="A list beside the YAML file, one term a line.")
    ignore_case: bool = True
    back: Literal["term", "first"] = Field(
        default="term",
        description="Where an error begins. term: at the term that the finding falls into. first: at the first term "
        "of the finding's sentence, since a fact goes wrong where its subject is named.",
    )
    resume: bool = Field(
        default=True,
        description="Whether generation may resume right before such a term; else the cut goes back to what the other "
        "anchors offer.",
    )

    @model_validator(mode="after")
    def _some_terms(self, info: ValidationInfo) -> Self:
        if self.file is not None:
            folder = Path((info.context or {}).get("folder", "."))
            object.__setattr__(self, "words", (*self.words, *_read(folder / self.file)))
        if not self.patterns and not self.words:
            raise ValueError("no terms given: fill `patterns` or `words`, or name a `file` with one term a line")
        _ = self._expressions  # too many words together are a fault of the file, not of the first request
        return self

    @cached_property
    def _expressions(self) -> Sequence[Any]:
        words = sorted(set(self.words), key=len, reverse=True)  # of two that begin alike, the longer one is meant
        listed = ["|".join(map(re2.escape, words))] if words else []
        return [_compile(expression, self.ignore_case) for expression in (*self.patterns, *listed)]

    def before(self, tape: Tape, position: int) -> int:
        """The start of the term that a position falls into (see `back`); without the blanks in front of it."""
        text, at = tape.text, position - tape.base
        terms = self._terms(text, at, at)
        if self.back == "first":
            begin = max(sentence_ends(text, max(at - 2 * LONGEST, 0), at), default=max(at - 2 * LONGEST, 0))
            terms = [term for term in self._terms(text, begin, at) if term[0] >= begin and term[0] <= at]
        inside = [start for start, end in terms if self.back == "first" or start <= at < end]
        return tape.base + _without_blanks(text, min(inside)) if inside else position

    def look(self, text: str, low: int, high: int) -> Marks:
        terms = list(self._terms(text, low, high))
        starts = self.resume and any(_without_blanks(text, start) == high for start, _ in terms)
        return Marks([high] if starts else [], [Closed(start, end) for start, end in terms])

    def _terms(self, text: str, low: int, high: int) -> Sequence[tuple[int, int]]:
        """All terms that could touch [low, high], and some around it; those that overlap as one."""
        begin = max(low - LONGEST, 0)
        part = _SURROGATES.sub("\ufffd", text[begin : max(high, 0) + LONGEST])
        found = sorted(
            (match.start() + begin, match.end() + begin)
            for expression in self._expressions
            for match in expression.finditer(part)
        )
        return list(_merged(found))


def _merged(spans: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    begin = end = -1
    for start, stop in spans:
        if start >= end:
            if end > 0:
                yield begin, end
            begin, end = start, stop
        end = max(end, stop)
    if end > 0:
        yield begin, end


def _without_blanks(text: str, at: int) -> int:
    """A token often begins with the blank before a word: it goes with the word."""
    while at and text[at - 1] in " \t\u3000":
        at -= 1
    return at


def _read(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as fault:
        raise ValueError(f"can't read the list of terms {path}: {fault}") from fault
    return [word for line in lines if (word := line.split("#", 1)[0].strip())]
