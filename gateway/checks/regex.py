"""`type: regex`: a regular expression, in linear time and with a bound on what it can match."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from gateway.checks._matcher import Matcher, Needle, PatternCheck
from gateway.checks._pattern import translate


def _readable(pattern: str) -> str:
    Matcher([translate(pattern)])
    return pattern


class Plug(PatternCheck):
    """Finds every match of `pattern` (Python syntax, RE2 engine; `*` and `+` are refused, say how many at most)."""

    type: Literal["regex"] = "regex"
    pattern: Annotated[str, AfterValidator(_readable)] = Field(examples=[r"\bpassword\b.{0,20}\d{4,12}"])
    ignore_case: bool = True

    def needles(self) -> Sequence[Needle]:
        return [Needle(translate(self.pattern, ignore_case=self.ignore_case))]
