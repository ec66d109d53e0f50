"""What a kind of anchor says of a text: positions it offers, and stretches that it closes to the others."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import NamedTuple

NOBODY: frozenset[str] = frozenset()


class Tape(NamedTuple):
    """The part of a text that is still kept: it begins at position `base` of the whole."""

    text: str
    base: int = 0


class Closed(NamedTuple):
    """No position p with start < p < end may be cut at, unless its own kind or one of `yields` offers it."""

    start: int
    end: int
    yields: frozenset[str] = NOBODY


class Marks(NamedTuple):
    """What one kind says. Positions are of the whole text; `offers` ascend."""

    offers: Sequence[int] = ()
    closed: Sequence[Closed] = ()


class Bars:
    """Answers, in the logarithm of their number, whether any of some stretches covers a position."""

    def __init__(self, spans: Iterable[Closed]) -> None:
        ordered = sorted(spans)
        self._starts = [span.start for span in ordered]
        self._ends = list(accumulate((span.end for span in ordered), max))

    def cover(self, position: int) -> bool:
        before = bisect_left(self._starts, position)
        return before > 0 and self._ends[before - 1] > position


class Ballot:
    """The positions that all kinds agree on. `kinds` are the names of those that say `marks`, in the same order."""

    def __init__(self, kinds: Sequence[str], marks: Sequence[Marks]) -> None:
        self._kinds = kinds
        self._offers = [frozenset(said.offers) for said in marks]
        self._bars = [
            (number, yields, Bars(span for span in said.closed if span.yields == yields))
            for number, said in enumerate(marks)
            for yields in {span.yields for span in said.closed}
        ]

    def positions(self, low: int, high: int) -> list[int]:
        """Whatever anyone offers within [low, high], the last first."""
        return sorted({p for offers in self._offers for p in offers if low <= p <= high}, reverse=True)

    def kind(self, position: int) -> str | None:
        """The first kind that offers a position; None if another one objects."""
        by = [number for number, offers in enumerate(self._offers) if position in offers]
        names = {self._kinds[number] for number in by}
        for owner, yields, bars in self._bars:
            if owner not in by and not names & yields and bars.cover(position):
                return None
        return self._kinds[by[0]] if by else None
