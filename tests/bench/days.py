"""Days of simulated traffic before the real series and the real controller: noise, drift, weeks, what goes wrong.

What is simulated is what a gateway would have seen: searches for donors, reuses, exchanges served with a donor and
without. What happens to the truth (a `Trouble`) is known here and not to the controller. What the controller holds in
force has its effect: a code that is off is not reused, one that is tried is reused by its share of the sessions and
measured as often as can be, a search that was loosened finds nothing of what was captured before.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from gateway.overlay import Overlay
from gateway.types import Reuse
from gateway.watch.acts import Act
from gateway.watch.control import Controlling
from gateway.watch.controller import Controller
from gateway.watch.pairs import Pair
from gateway.watch.series import Reading, Series, Windows

HOUR, DAY = 3600.0, 86_400.0
SCRAPE = 60.0  # seconds between two readings
QUIET = 3  # of so many scrapes, one finds pairs: repeats are made when there is time, a few one after the other
MONDAY = 345_600.0 + 2900 * 7 * DAY  # a Monday at 0:00, seconds since 1970
WINDOWS = Windows()


class Kind(NamedTuple):
    """What is true of one reason code: its share of what is reused, how much sooner, how alike."""

    share: float
    ld: float
    cs: float


KINDS: Mapping[str, Kind] = {
    "R101": Kind(0.35, -0.25, 0.93),
    "R203": Kind(0.40, -0.32, 0.92),
    "R307": Kind(0.25, -0.22, 0.95),
}


class Trouble(NamedTuple):
    """From `start` to `end` (seconds from the first) something is otherwise than on a good day."""

    start: float
    end: float
    name: str = ""
    hit: float | None = None  # the share of searches that can end in reuse
    kinds: Mapping[str, Kind] = {}  # instead of those
    faults: frozenset[str] = frozenset()


class Truth(NamedTuple):
    """What is so at one time; nobody is told."""

    hit: float
    kinds: Mapping[str, Kind]
    faults: frozenset[str]
    traffic: float  # searches a second

    @property
    def ld(self) -> float:
        return sum(kind.share * kind.ld for kind in self.kinds.values())

    @property
    def cs(self) -> float:
        return sum(kind.share * kind.cs for kind in self.kinds.values())


class Moment(NamedTuple):
    """One scrape: what was read, what was done about it, what is in force after it, and the truth."""

    reading: Reading
    acts: Sequence[Act]
    overlay: Overlay
    truth: Truth


@dataclass
class World:
    """Traffic with its days and weeks; `pairs` of it an hour are served twice."""

    seed: int
    troubles: Sequence[Trouble] = ()
    traffic: float = 1.0  # searches a second, at noon of a working day
    pairs: float = 120.0
    tried_most: float = 120.0  # pairs an hour of codes that are tried
    gain: float = 0.12  # of the hit rate, by a loosened search
    _rng: np.random.Generator = field(init=False)
    _phase: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)
        self._phase = self._rng.uniform(0, 2 * math.pi, 4)

    def truth(self, at: float) -> Truth:
        """What is so `at` (since 1970): slow drift, and what is wrong at the moment."""
        since, day = at - MONDAY, (at % DAY) / DAY
        wave = [math.sin(2 * math.pi * since / (hours * HOUR) + self._phase[n]) for n, hours in enumerate((31, 17, 43))]
        hit, kinds, faults = 0.40 + 0.05 * wave[0], dict(KINDS), frozenset[str]()
        for trouble in self.troubles:
            if trouble.start <= since < trouble.end:
                hit = trouble.hit if trouble.hit is not None else hit
                kinds |= trouble.kinds
                faults |= trouble.faults
        kinds = {
            code: kind._replace(cs=kind.cs + 0.01 * wave[1], ld=kind.ld * (1 + 0.1 * wave[2]))
            for code, kind in kinds.items()
        }
        weekend = 0.45 if (at // DAY + 3) % 7 >= 5 else 1.0
        traffic = self.traffic * weekend * (0.25 + 0.75 * max(0.0, math.sin(math.pi * (day * 24 - 6) / 15)) ** 2)
        return Truth(hit, kinds, faults, traffic if 6 <= day * 24 <= 21 else 0.25 * self.traffic * weekend)

    def minute(self, series: Series, at: float, overlay: Overlay) -> Truth:
        """Let the time until `at` pass."""
        rng, truth = self._rng, self.truth(at)
        on = {code: _let(overlay, code) for code in truth.kinds}
        hit = _found(truth.hit, overlay, at, self.gain)
        searches = int(rng.poisson(truth.traffic * SCRAPE))
        reused = {c: int(rng.binomial(searches, hit * kind.share * on[c])) for c, kind in truth.kinds.items()}
        if truth.faults:
            reused = dict.fromkeys(reused, 0)
        total = sum(reused.values())
        for number in range(searches):
            series.add_lookup(at, number < total)
        for code, count in reused.items():
            for _ in range(count):
                series.add_reuse(at, Reuse("", "", "", "kept", "", "d", code, injected=512))
        if at % (QUIET * SCRAPE) == 0:
            for code, kind in truth.kinds.items():
                for pair in self._served(code, kind, reused[code], at, overlay):
                    series.add_pair(pair)
        return truth

    def _served(self, code: str, kind: Kind, count: int, at: float, overlay: Overlay) -> Iterator[Pair]:
        """Those that are served twice, of as many reuses as `count` a scrape."""
        brake = overlay.codes.get(code)
        most = self.pairs * kind.share if brake is None else self.tried_most / len(overlay.codes)
        for _ in range(min(QUIET * count, int(self._rng.poisson(most * QUIET * SCRAPE / HOUR)))):
            without = float(self._rng.lognormal(-0.5, 0.45))
            with_ = without * (1 + kind.ld) * float(self._rng.lognormal(0, 0.12))
            alike = float(self._rng.beta(kind.cs * 12, (1 - kind.cs) * 12))
            yield Pair(at, code, "now", "splice", (with_, without), (with_ + 2, without + 2), True, alike)


def _let(overlay: Overlay, code: str) -> float:
    """The share of the sessions that captures of this code are injected for."""
    if overlay.breaker is not None:
        return 0.0
    brake = overlay.codes.get(code)
    if brake is not None:
        return overlay.share if brake.tried is not None else 0.0
    return 1.0 if overlay.fallback is None or code in overlay.back else 0.0


def _found(hit: float, overlay: Overlay, at: float, gain: float) -> float:
    """Of searches the share that finds a donor: after each change of the chunks the store fills up again, in half an
    hour or so."""
    if overlay.moved is None:
        return hit
    filled = 1 - math.exp(-(at - overlay.moved) / (0.2 * HOUR))
    return (hit + (gain if overlay.bits else 0.0)) * filled


def days(world: World, words: Controlling, start: float, seconds: float) -> Iterator[Moment]:
    """The controller at work, scrape by scrape, from `start` (seconds after Monday 0:00) on."""
    series, controller = Series(seed=world.seed), Controller(words)
    for number in range(1, int(seconds / SCRAPE) + 1):
        at = MONDAY + start + number * SCRAPE
        truth = world.minute(series, at, controller.overlay)
        tried = frozenset(code for code, brake in controller.overlay.codes.items() if brake.tried is not None)
        reading = series.reading(at, WINDOWS, truth.faults, tried)
        acts = controller.step(reading)
        for act in acts:
            if act.what in ("off", "again", "try", "fallback"):
                series.forget(act.code)
        yield Moment(reading, acts, controller.overlay, truth)


def clock(at: float) -> str:
    """A time of these days, as people say it."""
    since = at - MONDAY
    day = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")[int(since // DAY) % 7]
    return f"{day} {int(since % DAY // HOUR):02}:{int(since % HOUR // 60):02}"
