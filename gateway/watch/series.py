"""Capture hit rate, latency delta and consistency over sliding windows, each with its bounds.

- CHR  of all searches for a donor, the share whose exchange an engine confirmed to have injected tokens into
- LD   a quantile of the times with a donor over the same quantile without, less one: -0.3 is 30 % faster
- CS   mean ROUGE-L F of the answers with a donor and without

A figure without samples is None: no verdict before the bounds allow one. Time is passed in, seconds since 1970.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from gateway.types import Reuse
from gateway.watch.pairs import Pair


class Figure(NamedTuple):
    """A value, its bounds (95 % unless configured otherwise), and of how many samples it is."""

    value: float
    low: float
    high: float
    count: int


class CodeReading(NamedTuple):
    """The same of one reason code's donors; `share` of all confirmed reuses."""

    ld: Figure | None
    cs: Figure | None
    share: float


class Reading(NamedTuple):
    """All figures at one time, each over its window. `faults`: what is down, such as `store` or `engine`."""

    at: float
    chr: Figure | None = None
    ld: Figure | None = None
    cs: Figure | None = None
    by_code: Mapping[str, CodeReading] = {}
    faults: frozenset[str] = frozenset()


class Series:
    """What was seen of lately. Bounded: of more samples than it holds, the oldest are forgotten."""

    def __init__(self, most: int = 4096, confidence: float = 0.95, seed: int = 0) -> None:
        self._most, self._confidence, self._seed = most, confidence, seed

    def add_lookup(self, at: float, donor: bool) -> None:
        """A donor was searched for, and found or not."""
        raise NotImplementedError

    def add_reuse(self, at: float, reuse: Reuse) -> None:
        """An engine has said what became of the donor it was offered."""
        raise NotImplementedError

    def add_pair(self, pair: Pair) -> None:
        """An exchange was served twice."""
        raise NotImplementedError

    def chr(self, now: float, window: float) -> Figure | None:
        """The capture hit rate of the last `window` seconds."""
        raise NotImplementedError

    def ld(
        self,
        now: float,
        window: float,
        reason: str | None = None,
        arm: str | None = None,
        *,
        of: Literal["first", "total"] = "first",
        quantile: float = 0.95,
    ) -> Figure | None:
        """The latency delta, of fair pairs alone."""
        raise NotImplementedError

    def cs(self, now: float, window: float, reason: str | None = None, arm: str | None = None) -> Figure | None:
        """The consistency score."""
        raise NotImplementedError

    def pairs(self, now: float, window: float, reason: str | None = None, arm: str | None = None) -> list[Pair]:
        """The pairs themselves, oldest first."""
        raise NotImplementedError
