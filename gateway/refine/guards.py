"""What keeps the second reading from costing more than it gives: time, tokens, how many at once, and a breaker.

Counts are of this process; with several workers each has its own.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from pydantic import Field

from gateway.breaker import Breaker
from gateway.plug import Strict
from gateway.rules import Place, When

TENANTS = 10_000  # whose tokens are remembered
_HOUR = 60  # minutes


class Quota(Strict):
    """How much some may have; the first that matches counts."""

    when: When = When()
    tokens_per_hour: int = Field(ge=0, description="Tokens of second readings, prompt and completion.")


class Guards(Strict):
    """The limits of a second reading."""

    min_chars: int = Field(default=50, ge=0, description="Shorter answers are not read again.")
    most_marks: int = Field(default=2, ge=1, le=10, description="Corrections an answer may carry.")
    seconds: float = Field(default=3.0, gt=0, le=600, description="All of it, from the answer's end to its correction.")
    request_tokens: int = Field(default=8192, ge=256, description="Most tokens of one reading, prompt and completion.")
    reply_tokens: int = Field(default=256, ge=32, le=4096, description="Most tokens of its completion.")
    reply_share: float = Field(
        default=0.6, gt=0, le=10, description="Its tokens over the answer's own, at most; 96 are always allowed."
    )
    tenant_tokens_per_hour: int = Field(default=500_000, ge=0, description="Most tokens of a tenant's readings.")
    quotas: tuple[Quota, ...] = Field(default=(), description="Where it is otherwise.")
    concurrent: int = Field(default=8, ge=1, le=1024, description="Readings at once; as many more may wait.")
    retry_seconds: float = Field(
        default=2.0, ge=1, le=60, description="After faults in a row, how often at least one tries whether it is back."
    )

    def quota(self, place: Place) -> int:
        """Tokens an hour for whoever asks here."""
        return next((q.tokens_per_hour for q in self.quotas if q.when.matches(place)), self.tenant_tokens_per_hour)


class Refusal(Exception):
    """There is no second reading now; `why` is a short stable word."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class Spent:
    """Tokens by tenant in the last hour, minute by minute. `now` tells seconds."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._minutes: OrderedDict[str, deque[tuple[int, int]]] = OrderedDict()

    def by(self, tenant: str) -> int:
        minutes, oldest = self._minutes.get(tenant), self._minute() - _HOUR
        while minutes and minutes[0][0] <= oldest:
            minutes.popleft()
        return sum(tokens for _, tokens in minutes or ())

    def add(self, tenant: str, tokens: int) -> None:
        minutes, minute = self._minutes.setdefault(tenant, deque()), self._minute()
        self._minutes.move_to_end(tenant)
        before = minutes.pop()[1] if minutes and minutes[-1][0] == minute else 0
        minutes.append((minute, before + tokens))
        while len(self._minutes) > TENANTS:
            self._minutes.popitem(last=False)

    def _minute(self) -> int:
        return int(self._now() // 60)


class Gatekeeper:
    """Lets a reading in, or says why not."""

    def __init__(self, guards: Guards, now: Callable[[], float] = time.monotonic) -> None:
        self._guards = guards
        self._places = asyncio.Semaphore(guards.concurrent)
        self._inside = 0
        self.spent = Spent(now)
        self.breaker = Breaker(now, guards.retry_seconds)

    @asynccontextmanager
    async def place(self, tenant: str, quota: int, tokens: int) -> AsyncIterator[None]:
        """A place for a reading of about so many tokens. Refusal if there is none.

        What goes wrong inside is the caller's to tell the breaker.
        """
        if tokens > self._guards.request_tokens:
            raise Refusal("too_long")
        if self.spent.by(tenant) + tokens > quota:
            raise Refusal("quota")
        if self._inside >= 2 * self._guards.concurrent:
            raise Refusal("busy")
        if not self.breaker.allows():
            raise Refusal("down")
        self._inside += 1
        try:
            async with self._places:
                yield
        finally:
            self._inside -= 1
