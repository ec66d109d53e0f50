"""A share of what was said: judged by its lower Wilson bound, so that a few voices raise no alarm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gateway.symptoms import Light, Said, Sign, green
from gateway.watch.bounds import wilson


class Share(NamedTuple):
    """So many of all, and by which words they were known."""

    found: int
    total: int
    words: Sequence[tuple[str, int]]

    @property
    def rate(self) -> float:
        return self.found / self.total

    @property
    def least(self) -> float:
        """What is sure of it."""
        return wilson(self.found, self.total)[0]

    @property
    def listed(self) -> str:
        return ", ".join(f"{word} {count}" for word, count in self.words) or "-"

    def sign(self, about: str, seen: Said, some: float, many: float, fix: Said) -> Sign:
        """Yellow if it is surely `some`, red if it is surely `many`."""
        if self.least < some:
            return green(about, *seen)
        return Sign(Light.RED if self.least >= many else Light.YELLOW, about, seen, fix)
