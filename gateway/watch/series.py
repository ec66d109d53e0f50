"""Capture hit rate, latency delta and consistency over sliding windows, each with its bounds.

- CHR  of all searches for a donor, the share after which an engine confirmed that it used one
- LD   a quantile of the times with a donor over the same quantile without, less one: -0.3 is 30 % faster
- CS   the mean likeness (ROUGE-L) of the answers with a donor and without

A figure without samples is None; one with few has bounds as wide as it can be, so nobody can act on it. Time is passed
in, seconds since 1970. What is held is bounded, and so is the work of reading it.
"""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from gateway.types import Reuse
from gateway.watch import bounds
from gateway.watch.pairs import Pair

MOST_SECONDS = 7200  # of lookups that are held, second by second
MOST_READ = 1000  # pairs that a figure is of, the latest
P95, MEDIAN = 0.95, 0.5

Of = Literal["first", "total"]
Likeness = Literal["alike", "top1"]


class Figure(NamedTuple):
    """A value, its bounds (95 % unless configured otherwise), and of how many samples it is."""

    value: float
    low: float
    high: float
    count: int  # type: ignore[assignment]  # of tuples' own words, the one that nobody misses here


class CodeReading(NamedTuple):
    """The same of one reason code's donors; `share` of all confirmed reuses."""

    ld: Figure | None
    cs: Figure | None
    share: float
    ld_median: Figure | None = None


class Reading(NamedTuple):
    """All figures at one time, each over its window. `faults`: what is down, such as `store` or `engine`.

    `ld` is of the time to the first piece at the 95th percentile, `ld_median` of the same at the median (which takes
    far fewer samples to bound), `ld_total` of the whole time. `kl` is in nats a token and has no upper bound.
    """

    at: float
    chr: Figure | None = None
    ld: Figure | None = None
    cs: Figure | None = None
    by_code: Mapping[str, CodeReading] = {}
    faults: frozenset[str] = frozenset()
    ld_median: Figure | None = None
    ld_total: Figure | None = None
    top1: Figure | None = None
    kl: Figure | None = None


class Windows(NamedTuple):
    """Over how many seconds each figure is read."""

    chr: float = 300.0
    ld: float = 3600.0
    cs: float = 3600.0


class Series:
    """What was seen lately. Of more than it holds, the oldest is forgotten: `most` pairs, `most` reuses, and lookups of
    MOST_SECONDS seconds. Times must not go back by more than a clock is set."""

    def __init__(self, most: int = 4096, confidence: float = 0.95, seed: int = 0) -> None:
        self.most, self.confidence, self.seed = most, confidence, seed
        self._lookups: deque[tuple[int, int, int]] = deque(maxlen=MOST_SECONDS)  # second, hits, all
        self._reuses: deque[tuple[float, str]] = deque(maxlen=most)
        self._pairs: deque[Pair] = deque(maxlen=most)
        self._known: dict[Hashable, tuple[Hashable, Figure]] = {}  # what was read last, and of which pairs

    def add_lookup(self, at: float, donor: bool) -> None:
        """An exchange was looked up; `donor`: and an engine confirmed that it used one."""
        second, hits, count = int(at), 0, 0
        if self._lookups and self._lookups[-1][0] >= second:
            second, hits, count = self._lookups.pop()
        self._lookups.append((second, hits + donor, count + 1))

    def add_reuse(self, at: float, reuse: Reuse) -> None:
        """An engine has said what became of the donor it was offered. Only what it injected counts."""
        if reuse.injected:
            self._reuses.append((at, reuse.donor_reason))

    def add_pair(self, pair: Pair) -> None:
        """An exchange was served twice."""
        self._pairs.append(pair)

    def chr(self, now: float, window: float) -> Figure | None:
        """The capture hit rate of the last `window` seconds, bounded as a share (Wilson)."""
        hits = count = 0
        for second, some, all_of_it in reversed(self._lookups):
            if second <= now - window:
                break
            hits, count = hits + some, count + all_of_it
        return Figure(hits / count, *bounds.wilson(hits, count, self.confidence), count) if count else None

    def ld(
        self,
        now: float,
        window: float,
        reason: str | None = None,
        arm: str | None = None,
        *,
        of: Of = "first",
        quantile: float = P95,
    ) -> Figure | None:
        """The latency delta, of fair pairs alone, bounded by a bootstrap of the pairs."""
        fair = [pair for pair in self.pairs(now, window, reason, arm) if pair.fair and min(getattr(pair, of)) > 0]

        def read(pairs: Sequence[Pair]) -> Figure:
            times = [getattr(pair, of) for pair in pairs]
            around = bounds.quantiles(times, quantile, self.confidence, self.seed)
            return Figure(bounds.relative(times, quantile), *around, len(times))

        return self._read((of, quantile, reason, arm), fair, read)

    def cs(self, now: float, window: float, reason: str | None = None, arm: str | None = None) -> Figure | None:
        """The consistency score, bounded by betting."""
        return self.mean(now, window, "alike", reason, arm)

    def mean(
        self, now: float, window: float, of: Likeness, reason: str | None = None, arm: str | None = None
    ) -> Figure | None:
        """The mean of a likeness in [0, 1] of pairs that have it."""
        told = [pair for pair in self.pairs(now, window, reason, arm) if getattr(pair, of) is not None]

        def read(pairs: Sequence[Pair]) -> Figure:
            values = [getattr(pair, of) for pair in pairs]
            return Figure(sum(values) / len(values), *bounds.betting(values, self.confidence), len(values))

        return self._read((of, reason, arm), told, read)

    def _read(self, what: Hashable, pairs: Sequence[Pair], read: Callable[[Sequence[Pair]], Figure]) -> Figure | None:
        """The figure of the latest of these pairs; the one that was read of the same ones before, if that was last."""
        if not pairs:
            return None
        pairs = pairs[-MOST_READ:]
        same = (pairs[0].at, pairs[-1].at, len(pairs))
        known = self._known.get(what)
        if known is None or known[0] != same:
            known = self._known[what] = (same, read(pairs))
        return known[1]

    def kl(self, now: float, window: float) -> Figure | None:
        """The mean divergence, nats a token. Nothing is known of how far it may go, so it is bounded by what it can
        not be: nothing that acts should act on it."""
        values = [pair.kl for pair in self.pairs(now, window) if pair.kl is not None]
        return Figure(sum(values) / len(values), 0.0, float("inf"), len(values)) if values else None

    def pairs(self, now: float, window: float, reason: str | None = None, arm: str | None = None) -> list[Pair]:
        """The pairs themselves, oldest first: of one reason code and one arm, or of all."""
        return [
            pair
            for pair in self._pairs
            if pair.at > now - window and (reason is None or pair.reason == reason) and (arm is None or pair.arm == arm)
        ]

    def forget(self, reason: str = "") -> None:
        """What was measured of this reason code is of no more use; of all codes, if it is empty. Hit rates stay."""
        self._pairs = deque((pair for pair in self._pairs if reason and pair.reason != reason), self.most)
        self._known.clear()

    def copied(self) -> Series:
        """The same at this moment, to be read beside the event loop."""
        same = Series(self.most, self.confidence, self.seed)
        same._lookups, same._reuses, same._pairs = self._lookups.copy(), self._reuses.copy(), self._pairs.copy()
        same._known = self._known  # read by one at a time
        return same

    def without(self, reasons: frozenset[str]) -> Series:
        """The same without the pairs of these reason codes."""
        rest = Series(self.most, self.confidence, self.seed)
        rest._lookups, rest._reuses = self._lookups, self._reuses
        rest._pairs.extend(pair for pair in self._pairs if pair.reason not in reasons)
        return rest

    def reading(
        self,
        now: float,
        windows: Windows,
        faults: frozenset[str] = frozenset(),
        apart: frozenset[str] = frozenset(),
    ) -> Reading:
        """All figures. It may take some tenths of a second with thousands of samples: not for an event loop.

        Codes that stand `apart` have figures of their own and do not count in those of all: such as codes that few
        sessions try again, of which nearly all is measured. They are read over all that is held of them: what was
        measured before the try is forgotten, and what comes in is little.
        """
        rest = self.without(apart) if apart else self
        return Reading(
            at=now,
            chr=self.chr(now, windows.chr),
            ld=rest.ld(now, windows.ld),
            cs=rest.cs(now, windows.cs),
            by_code=dict(self._by_code(now, windows, apart)),
            faults=faults,
            ld_median=rest.ld(now, windows.ld, quantile=MEDIAN),
            ld_total=rest.ld(now, windows.ld, of="total"),
            top1=rest.mean(now, windows.cs, "top1"),
            kl=rest.kl(now, windows.cs),
        )

    def _by_code(self, now: float, windows: Windows, apart: frozenset[str]) -> Iterator[tuple[str, CodeReading]]:
        reused = Counter(reason for at, reason in self._reuses if at > now - max(windows.ld, windows.cs))
        paired = {pair.reason for pair in self.pairs(now, max(windows.ld, windows.cs))}
        for reason in sorted(paired | reused.keys()):
            speed, likeness = (math.inf, math.inf) if reason in apart else (windows.ld, windows.cs)
            yield (
                reason,
                CodeReading(
                    ld=self.ld(now, speed, reason),
                    cs=self.cs(now, likeness, reason),
                    share=reused[reason] / reused.total() if reused else 0.0,
                    ld_median=self.ld(now, speed, reason, quantile=MEDIAN),
                ),
            )
