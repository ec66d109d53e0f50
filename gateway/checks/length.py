"""`type: length`: too long, or too short."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from gateway.checks import Check
from gateway.types import NEVER, View


class Plug(Check):
    """Finds the first character past `max_chars`, or the end of a text that has fewer than `min_chars`."""

    type: Literal["length"] = "length"
    max_chars: int | None = Field(default=None, ge=1)
    min_chars: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _some_bound(self) -> Self:
        if self.max_chars is None and self.min_chars is None:
            raise ValueError("give `max_chars`, `min_chars` or both")
        return self

    @property
    def at_end(self) -> bool:  # type: ignore[override]
        return self.min_chars is not None

    def look(self, view: View) -> tuple[list[tuple[int, int]], int]:
        end = len(view.text)
        spans = []
        if self.max_chars is not None and view.begin <= self.max_chars - view.base < end:
            spans.append((self.max_chars - view.base, self.max_chars - view.base + 1))
        if self.min_chars is not None and view.final and view.base + end < self.min_chars:
            spans.append((end, end))
        return spans, end

    def wake(self, position: int) -> int:
        return self.max_chars + 1 if self.max_chars is not None and position <= self.max_chars else NEVER
