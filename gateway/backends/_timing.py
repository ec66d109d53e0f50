"""How long an upstream may take for what. All of it holds from the moment the request is sent."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable

from pydantic import Field

from gateway.errors import UpstreamTimeout
from gateway.plug import Strict

LAZY = 0.25  # seconds that a deadline may be late


class Timeouts(Strict):
    """Seconds."""

    connect: float = Field(default=5.0, gt=0, description="Until a connection stands.")
    first_token: float = Field(default=120.0, gt=0, description="Until the first byte of the answer's body.")
    idle: float = Field(default=60.0, gt=0, description="Between two pieces of an answer's body.")
    total: float = Field(default=900.0, gt=0, description="For the whole exchange with the upstream.")


class Clock:
    """One exchange's deadline: first the first token's, then always the next piece's, never past the total.

    It runs only while somebody waits for the upstream: a client that reads slowly is not the upstream's fault.
    `expire` is called by the Watch once the deadline has passed.
    """

    __slots__ = ("_limit", "_timeouts", "_total", "_watch", "check", "due", "expire", "expired")

    def __init__(self, timeouts: Timeouts, watch: Watch, expire: Callable[[], object]) -> None:
        now = watch.now()
        self._timeouts, self._watch, self.expire = timeouts, watch, expire
        self._limit = "first_token"
        self._total = now + timeouts.total
        self.due = now + min(timeouts.first_token, timeouts.total)
        self.expired = False
        self.check: Callable[[], object] | None = None  # called at every look
        watch.clocks.add(self)

    def fault(self) -> UpstreamTimeout:
        """What to raise once it has expired; it names the limit."""
        limit = "total" if self._watch.now() >= self._total else self._limit
        seconds = getattr(self._timeouts, limit)
        return UpstreamTimeout(
            f"the upstream took longer than {seconds:g} s ({limit} timeout)", kind=f"timeout_{limit}"
        )

    def begin(self) -> None:
        """Somebody waits for the next piece."""
        self.due = min(self._watch.now() + self._timeouts.idle, self._total)

    def end(self) -> None:
        """It came."""
        self._limit, self.due = "idle", math.inf

    def stop(self) -> None:
        self._watch.clocks.discard(self)


class Watch:
    """Looks at the clocks of all exchanges a few times a second: a timer for each would cost more than they do."""

    def __init__(self, timeouts: Timeouts) -> None:
        self.now = asyncio.get_running_loop().time
        self.clocks: set[Clock] = set()
        self._pause = min(LAZY, *(seconds / 4 for seconds in dict(timeouts).values()))

    async def run(self) -> None:
        """For ever."""
        while True:
            await asyncio.sleep(self._pause)
            now = self.now()
            for clock in list(self.clocks):
                if clock.due <= now:
                    clock.expired, clock.due = True, math.inf
                    clock.expire()
                elif clock.check:
                    clock.check()
