"""The watchman: sees what reuse comes to, has some of it repeated without, and reads the figures at regular times.

What he is told is noted and no more: repeats and readings are tasks of their own. With several workers each has a
watchman, who sees his worker's share of the traffic alone; a scrape tells the figures of whoever read them last, and
budgets and rates are each worker's own.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import NamedTuple
from zlib import crc32

from gateway.config import House
from gateway.ledger import Trip
from gateway.metrics import Metrics
from gateway.refine.guards import Spent
from gateway.terms import Terms
from gateway.types import Exchange, Reuse
from gateway.watch.cases import Case, Gathering
from gateway.watch.file import Shadowing, WatchFile
from gateway.watch.pairs import Arm, Pair
from gateway.watch.series import Figure, Reading, Series
from gateway.watch.shadow import Ask, Shadow, Unmeasured
from gateway.witness import Witness

log = logging.getLogger(__name__)

PAUSE = 0.5  # seconds between two looks whether there is time for a repeat
BROKEN = 3  # loads that failed between two readings, by which an engine counts as faulty
_FAULTS = frozenset({"fault", "load_failed"})  # why a donor was declined that speaks of the engine
_WHOSE = "repeats"


class Trials:
    """Who compares the arms of trials of policies. This one has none."""

    @property
    def going(self) -> bool:
        """Whether there is a trial."""
        return False

    def share(self, reason: str, arm: Arm) -> float:
        """The share of an arm's exchanges that is wanted to be repeated, if usually fewer are."""
        return 0.0

    def pair(self, pair: Pair) -> None:
        """An exchange was served twice."""


class Place(NamedTuple):
    """What a watchman needs of the process that he stands in."""

    ask: Ask  # repeats a request
    salt: Callable[[str], str]  # of a tenant
    terms: Callable[[], Terms]  # in force now
    load: Callable[[], int]  # requests under way
    faults: Callable[[], frozenset[str]]  # what is down
    trials: Trials = Trials()


class Watchman(Witness):
    """One process's. `act` hears each reading; `tried` are reason codes whose every reuse is worth a repeat."""

    def __init__(
        self,
        metrics: Metrics,
        place: Place,
        act: Callable[[Reading], Awaitable[None]] | None = None,
        tried: Callable[[], frozenset[str]] = frozenset,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._metrics, self._place, self._act, self._tried, self._now = metrics, place, act, tried, now
        self._file: WatchFile | None = None
        self.series = Series()
        self.last: Reading | None = None
        self._gathering = Gathering()
        self._waiting: deque[Case] = deque()
        self._repeated: Case | None = None  # the one under way, as long as it tells of what is in force
        self._news = asyncio.Event()
        self._broken = 0
        self._shared: tuple[int, Shadowing | None, float] = (-1, None, 0.0)
        self._tokens = Spent()
        self._shadow = Shadow(place.ask, place.salt, self._quiet, self._spent)
        self._tasks: list[asyncio.Task[None]] = []

    async def apply(self, house: House) -> None:
        """Measure as this says from now on. What was seen stays, unless it is to be read otherwise."""
        before, self._file = self._file, house.watch
        if house.watch is None:
            await self.stop()
            return
        figures = house.watch.figures
        if before is None or before.figures != figures:
            self.series = Series(figures.pairs, figures.confidence)
        if not self._tasks:
            self._tasks = [asyncio.create_task(self._read_on()), asyncio.create_task(self._repeat_on())]

    def wants(self, exchange: Exchange, house: House) -> bool:
        return self._drawn(exchange.id)

    def over(self, trip: Trip) -> None:
        exchange = trip.exchange
        if self._file is None or exchange is None or not trip.recorded or not trip.captures:
            return
        if not self._drawn(exchange.id):
            return
        self._add(self._gathering.over(trip, self._place.terms().of(exchange), self._file.shadow.prompt_chars))

    def reuse(self, reuse: Reuse) -> None:
        if self._file is None:
            return
        now = self._now()
        self._broken += reuse.declined in _FAULTS
        # Nothing is known of a capture whose verdict never arrived; and where the engine's own cache had as much, the
        # search neither hit nor missed: there was nothing to gain.
        if reuse.verdict in ("kept", "dropped") and reuse.declined != "cached":
            self.series.add_lookup(now, donor=reuse.injected > 0)
        self.series.add_reuse(now, reuse)
        if reuse.injected and self._drawn(reuse.exchange):
            self._add(self._gathering.told(reuse))

    async def stop(self) -> None:
        """What waits is given up, and a repeat under way as well."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()
        for _ in self._waiting:
            self._metrics.shadowed("stopped")
        self._waiting.clear()

    def forget(self, reason: str) -> None:
        """What was measured of this reason code tells nothing of what is in force now; of all, if it is empty."""
        self.series.forget(reason)
        left = [case for case in self._waiting if reason and case.reason != reason]
        for _ in range(len(self._waiting) - len(left)):
            self._metrics.shadowed("outdated")
        self._waiting = deque(left)
        if self._repeated is not None and reason in ("", self._repeated.reason):
            self._repeated = None

    def _drawn(self, id: str) -> bool:
        """Whether the lot falls on an exchange: by its name, so that each who asks hears the same."""
        if self._file is None or not self._file.shadow.rate:
            return False
        if self._tried() or self._place.trials.going:
            return True
        return _lot(id) < self._share(self._file.shadow, self._now())

    def _share(self, words: Shadowing, at: float) -> float:
        """The share of exchanges that is usually repeated at this time; worked out once a minute."""
        minute = int(at // 60)
        if self._shared[0] != minute or self._shared[1] is not words:
            self._shared = minute, words, words.share(datetime.fromtimestamp(60 * minute))
        return self._shared[2]

    def _add(self, case: Case | None) -> None:
        """Have it repeated when there is time."""
        if case is None or self._file is None:
            return
        words = self._file.shadow
        usual, eager = self._share(words, case.at), self._place.trials.share(case.reason, case.arm)
        if case.reason not in self._tried() and _lot(case.exchange.id) >= max(usual, eager):
            return
        self._waiting.append(case)
        while len(self._waiting) > words.waiting:
            self._waiting.popleft()
            self._metrics.shadowed("displaced")
        self._news.set()

    async def _repeat_on(self) -> None:
        """Repeat one after the other, for ever."""
        while True:
            self._news.clear()
            if not self._waiting:
                await self._news.wait()
            assert self._file is not None, "without it there is no such task"
            words = self._file.shadow
            case = self._waiting[0]
            if case.at < self._now() - words.wait_seconds:
                self._waiting.popleft()
                self._metrics.shadowed("late")
            elif not self._quiet():
                await asyncio.sleep(PAUSE)
            elif self._tokens.by(_WHOSE) + 2 * (case.prompt + words.answer_tokens) > words.tokens_per_hour:
                self._waiting.popleft()
                self._metrics.shadowed("budget")
            else:
                self._waiting.popleft()
                await self._repeat(case)

    async def _repeat(self, case: Case) -> None:
        assert self._file is not None, "without it there is no such task"
        self._repeated = case
        try:
            pair = await self._shadow.pair(case, self._file.shadow)
        except Unmeasured as fault:
            self._metrics.shadowed(fault.why)
            log.debug("%s was not repeated: %s", case.exchange.id, fault.why)
        except asyncio.CancelledError:
            self._metrics.shadowed("stopped")
            raise
        else:
            if self._repeated is not case:
                self._metrics.shadowed("outdated")
                return
            self._metrics.shadowed("made" if pair.fair else "unfair")
            self.series.add_pair(pair)
            self._place.trials.pair(pair)

    def _quiet(self) -> bool:
        return self._file is not None and self._place.load() < self._file.shadow.idle_below

    def _spent(self, side: str, tokens: int) -> None:
        self._tokens.add(_WHOSE, tokens)
        self._metrics.shadow_spent(side, tokens)

    async def _read_on(self) -> None:
        """Read the figures at regular times, for ever."""
        while True:
            assert self._file is not None, "without it there is no such task"
            await asyncio.sleep(self._file.every_seconds)
            await self.read()

    async def read(self) -> Reading | None:
        """Read all figures, show them, and tell who acts on them. None if nothing is measured."""
        if self._file is None:
            return None
        faults = self._place.faults() | ({"engine"} if self._broken >= BROKEN else frozenset())
        self._broken = 0
        copy, windows = self.series.copied(), self._file.figures.windows
        self.last = reading = await asyncio.to_thread(copy.reading, self._now(), windows, faults, self._tried())
        for name, figure in named(reading).items():
            self._metrics.figure(name, figure)
        if self._act is not None:
            await self._act(reading)
        return reading


def named(reading: Reading) -> dict[str, Figure | None]:
    """A reading's figures as metrics call them."""
    return {
        "chr": reading.chr,
        "ld_first": reading.ld,
        "ld_first_median": reading.ld_median,
        "ld_total": reading.ld_total,
        "cs": reading.cs,
        "top1": reading.top1,
        "kl": reading.kl,
    }


def _lot(id: str) -> float:
    """A number in [0, 1) that belongs to a name."""
    return crc32(id.encode(errors="surrogatepass")) / 2**32  # as even as names are random, and ours are
