"""`type: repeat`: a model caught in a loop, saying the same thing again and again.

The text is looked at every 256 characters, at fixed places of the whole text, so the verdict does not depend on how
the stream was cut. The finding begins where the loop was noticed: what was said before may already have left.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from gateway.checks import Check
from gateway.types import View

STEP = 256
SUFFIX = 16
REACH = 1792  # characters looked back from a place and the one before it; a window keeps as many


class Plug(Check):
    """Finds a unit of any length said at least `times` times in a row, over at least `min_chars` characters."""

    at_end: ClassVar[bool] = False
    type: Literal["repeat"] = "repeat"
    times: int = Field(default=6, ge=3, le=64)
    min_chars: int = Field(default=240, ge=2 * SUFFIX, le=REACH)

    def look(self, view: View) -> tuple[list[tuple[int, int]], int]:
        text, end = view.text, len(view.text)
        begun = view.base + view.begin
        places = range((begun + -begun % STEP or STEP) - view.base, end, STEP)
        noticed = [place for place in places if self._loops(text, place) and not self._loops(text, place - STEP)]
        return [(place, place + 1) for place in noticed], end

    def wake(self, position: int) -> int:
        return position + -position % STEP + 1

    def _loops(self, text: str, end: int) -> bool:
        if end < self.min_chars:
            return False
        low = max(end - SUFFIX - REACH // self.times, 0)
        before = text.rfind(text[end - SUFFIX : end], low, end - 1)
        if before < 0:
            return False
        period = end - SUFFIX - before
        need = max(self.times * period, self.min_chars)
        return end >= need and text[end - need : end - period] == text[end - need + period : end]
