"""What earlier requests would have given back to later ones: the newest of a log, replayed as the gateway does it.

Each request is looked up among those before it, with the sketches, the store and the choice of donors that serve in
the gateway, and is then remembered as captured. What is told is what the gateway would expect of a donor before it asks
the engine. Only neighbours can be alike, so a part of a log tells less than all of it: the figures are low rather than
high. What begins alike an engine's own prefix cache gives back, too, for as long as it holds it; what has moved to
another place nobody else gives.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence
from typing import NamedTuple

from gateway import context
from gateway.assess._line import Line
from gateway.donors import BYTES, choose
from gateway.rules import Inject
from gateway.stores import Kept
from gateway.stores.memory import Plug as Store
from gateway.terms import Lookup
from gateway.watch.bounds import Bounds, wilson

TTL = 3600.0  # seconds, where an engine is not told otherwise
RESAMPLES = 1000
_FOREVER = float("inf")


class Gain(NamedTuple):
    """One request: tokens of its prompt, how many of them a donor gives back, and how old that was, in seconds."""

    tokens: float
    prefix: float = 0.0
    moved: float = 0.0
    age: float | None = None

    @property
    def given(self) -> float:
        return self.prefix + self.moved


class Saving(NamedTuple):
    """Of all requests: the share that finds a donor, and the shares of all prompt tokens, with 95 % bounds.

    `ages`: the median and the 95th percentile of donors' ages, in seconds, where the log tells times; `span`: from the
    first of these requests to the last.
    """

    requests: int
    donors: int  # captures there were
    named: float
    prefix: float
    moved: float
    share: float
    bounds: Bounds
    ages: tuple[float, float] | None
    span: float = 0.0


class Keeping(NamedTuple):
    """What is kept of the requests, and how it may serve: `ttl` in seconds, `ratio` bytes of a token."""

    captured: Callable[[Line], bool]
    policy: Inject
    ttl: float = TTL
    ratio: float = BYTES


def replay(lines: Sequence[Line], keeping: Keeping, step: Callable[[], None] = lambda: None) -> list[Gain]:
    """What each request gains by those before it. `step` is called after each, for whoever shows progress."""
    return asyncio.run(_replayed(lines, keeping, step))


async def _replayed(lines: Sequence[Line], keeping: Keeping, step: Callable[[], None]) -> list[Gain]:
    store = Store(most=max(len(lines), 1)).connect(lambda _kind: None)
    gains = []
    for number, line in enumerate(lines):
        body = line.body or {}
        made = context.sketch(context.whose(line.tenant, str(body.get("model", ""))), body, Lookup().chunk_bits)
        found = [kept for kept in await store.find(made) if _lives(lines[int(kept.capture)], line, keeping.ttl)]
        offer = choose(made, "", found, lambda _reason: keeping.policy, keeping.ratio)
        tokens = max(line.prompt or 0, sum(made.sizes) / keeping.ratio)
        if offer is None:
            gains.append(Gain(tokens))
        else:
            gains.append(Gain(tokens, offer.prefix, offer.moved, _age(lines[int(offer.kept.capture)], line)))
        if keeping.captured(line):
            store.add(Kept(str(number), "", "", "", _FOREVER, made))
        step()
    return gains


def _age(donor: Line, asked: Line) -> float | None:
    return max(asked.at - donor.at, 0.0) if asked.at is not None and donor.at is not None else None


def _lives(donor: Line, asked: Line, ttl: float) -> bool:
    """Where no times are told it is taken to live."""
    age = _age(donor, asked)
    return age is None or age <= ttl


def saving(gains: Sequence[Gain], donors: int, span: float = 0.0, seed: int = 0) -> Saving:
    """What they come to together."""
    tokens = sum(one.tokens for one in gains) or 1.0
    prefix, moved = sum(one.prefix for one in gains) / tokens, sum(one.moved for one in gains) / tokens
    ages = sorted(one.age for one in gains if one.age is not None and one.given)
    return Saving(
        requests=len(gains),
        donors=donors,
        named=sum(one.given > 0 for one in gains) / max(len(gains), 1),
        prefix=prefix,
        moved=moved,
        share=prefix + moved,
        bounds=shares([(one.given, one.tokens) for one in gains], seed),
        span=span,
        ages=(ages[len(ages) // 2], ages[min(int(0.95 * len(ages)), len(ages) - 1)]) if ages else None,
    )


def shares(pairs: Sequence[tuple[float, float]], seed: int = 0) -> Bounds:
    """95 % bounds of the sum of what is first over the sum of what is second.

    Requests that stand together are of one conversation or one batch, so whole blocks of neighbours are drawn (moving
    block bootstrap: Kuensch 1989), each about as long as the cube root of all.
    """
    count = len(pairs)
    if not any(top for top, _ in pairs):  # to draw nothing again and again would prove nothing
        return wilson(0, count)
    length = max(round(count ** (1 / 3)), 1)
    tops, bottoms = [0.0], [0.0]
    for top, bottom in pairs:
        tops.append(tops[-1] + top)
        bottoms.append(bottoms[-1] + bottom)
    chance = random.Random(seed)
    found = []
    for _ in range(RESAMPLES):
        starts = [chance.randrange(count - length + 1) for _ in range(-(-count // length))]
        given = sum(tops[start + length] - tops[start] for start in starts)
        found.append(given / (sum(bottoms[start + length] - bottoms[start] for start in starts) or 1.0))
    found.sort()
    return found[round(0.025 * (RESAMPLES - 1))], found[round(0.975 * (RESAMPLES - 1))]
