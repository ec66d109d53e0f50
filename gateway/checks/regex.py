"""`type: regex`: a regular expression, in linear time and with a bound on what it can match."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field

from gateway.checks import Active, Check, Scanner
from gateway.checks._matcher import Matcher
from gateway.checks._pattern import Pattern, translate
from gateway.types import Hit, Scan, View


def _readable(pattern: str) -> str:
    Matcher([translate(pattern)])
    return pattern


class Plug(Check):
    """Finds every match of `pattern` (Python syntax, RE2 engine; `*` and `+` are refused, say how many at most)."""

    type: Literal["regex"] = "regex"
    pattern: Annotated[str, AfterValidator(_readable)] = Field(examples=[r"\bpassword\b.{0,20}\d{4,12}"])
    ignore_case: bool = True

    @cached_property
    def translated(self) -> Pattern:
        return translate(self.pattern, ignore_case=self.ignore_case)

    @classmethod
    def fuse(cls, checks: Sequence[Self]) -> Scanner:
        return RegexScanner([check.translated for check in checks])

    def look(self, view: View) -> tuple[list[tuple[int, int]], int]:
        hits, hold = self.fuse([self]).scan(view, frozenset({0}))
        return [(hit.start, hit.end) for hit in hits], hold


class RegexScanner:
    """All regular expressions of a rule set in one pass; spans are asked for only where something was seen."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._matcher = Matcher(patterns)

    def scan(self, view: View, active: Active) -> Scan:
        text, begin = view.text, view.begin
        matching, alive = self._matcher.suspects(text[begin - 1 :] if begin > 1 else text)
        hits = [Hit(n, *span) for n in matching if n in active for span in self._matcher.spans(n, text, begin)]
        if view.final:
            return Scan(hits, len(text))
        hold = min((self._matcher.tail(n, text, begin) for n in alive if n in active), default=len(text))
        return Scan(hits, hold)
