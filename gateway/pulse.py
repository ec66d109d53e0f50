"""Tells a client that has heard nothing for a while that its answer is on the way."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from gateway.surfaces import sse

Write = Callable[[bytes], Awaitable[None]]


class Pulse:
    """An SSE comment at least every `seconds` in which nothing else was told."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._spoke = time.monotonic()

    async def beat(self, write: Write, speaks: bool) -> None:
        """So much for now; `speaks` says that something is told anyway."""
        now = time.monotonic()
        if speaks:
            self._spoke = now
        elif now - self._spoke >= self._seconds:
            self._spoke = now
            await write(sse.KEEP_ALIVE)

    async def through(self, work: asyncio.Future[Any], write: Write) -> None:
        """Until the work is done, whatever comes of it; that is told next."""
        while not work.done():
            await asyncio.wait({work}, timeout=self._seconds)
            if not work.done():
                await write(sse.KEEP_ALIVE)
        self._spoke = time.monotonic()
