"""How long an upstream may take for what. All of it holds from the moment the request is sent."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable

from pydantic import Field

from gateway.errors import UpstreamTimeout
from gateway.plug import Strict


class Timeouts(Strict):
    """Seconds."""

    connect: float = Field(default=5.0, gt=0, description="Until a connection stands.")
    first_token: float = Field(default=120.0, gt=0, description="Until the first byte of the answer's body.")
    idle: float = Field(default=60.0, gt=0, description="Between two pieces of an answer's body.")
    total: float = Field(default=900.0, gt=0, description="For the whole exchange with the upstream.")


class Clock:
    """One exchange's deadline: first the first token's, then always the next piece's, never past the total.

    It runs only while somebody waits for the upstream: a client that reads slowly is not the upstream's fault. Moving
    the deadline is one assignment; a single timer looks whether it has come.
    """

    def __init__(self, timeouts: Timeouts) -> None:
        self._timeouts = timeouts
        self._loop = asyncio.get_running_loop()
        self._now = self._loop.time
        self._total = self._now() + timeouts.total
        self._at = self.first = min(self._total, self._now() + timeouts.first_token)
        self._limit = "first_token"
        self._timer: asyncio.TimerHandle | None = None

    def fault(self) -> UpstreamTimeout:
        """What to raise when the deadline has passed; it names the limit."""
        limit = "total" if self._now() >= self._total else self._limit
        seconds = getattr(self._timeouts, limit)
        return UpstreamTimeout(
            f"the upstream took longer than {seconds:g} s ({limit} timeout)", kind=f"timeout_{limit}"
        )

    def watch(self, expire: Callable[[UpstreamTimeout], object]) -> None:
        """Call `expire` once the deadline has passed while somebody waited."""
        due = min(self._at, self._total)
        if self._now() >= due:
            expire(self.fault())
            return
        wait = min(due, self._now() + self._timeouts.idle)  # the deadline moves, so look again in between
        self._timer = self._loop.call_at(wait, self.watch, expire)

    def begin(self) -> None:
        """Somebody waits for the next piece."""
        if self._limit == "idle":
            self._at = self._now() + self._timeouts.idle

    def end(self) -> None:
        """It came."""
        self._limit, self._at = "idle", math.inf

    def stop(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
