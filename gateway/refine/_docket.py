"""Entries on their way into a queue, beside the requests: in order, a few at a time, and never at anybody's cost.

While the queue can't be written they wait here, and go out once it can. They are bounded in number and bytes: of more,
the oldest are given up for the newest. What was written just as a fault was told may stand in the queue twice.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from contextlib import suppress

from gateway.refine._entry import Entry, Observe, QueueFault, Sink, pack

log = logging.getLogger(__name__)

BUFFERED = 1000  # entries
BYTES = 8 << 20
_BATCH = 32
_FIRST, _LONGEST = 0.1, 5.0  # seconds until the next try, doubled each time it fails
_PATIENCE = 3.0  # seconds for what is left when all ends


class Docket:
    """A living docket. `observe` hears `displaced` (given up here), `dropped` (an old one, in the queue), `lost` (not
    written when all ended), and for each try that failed the kind of the fault."""

    def __init__(self, sink: Sink, observe: Observe, most: int = BUFFERED, size: int = BYTES) -> None:
        self._sink, self._observe, self._most, self._size = sink, observe, most, size
        self._queue: deque[bytes] = deque()
        self._held = 0
        self._news, self._ending = asyncio.Event(), asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._up = True

    def __len__(self) -> int:
        """How many wait here."""
        return len(self._queue)

    @property
    def up(self) -> bool:
        """Whether the queue could be written last time."""
        return self._up

    def add(self, entry: Entry) -> None:
        """It will be written soon. Nothing is awaited, and no fault comes of it."""
        line = pack(entry)
        self._queue.append(line)
        self._held += len(line)
        self._cut()
        self._news.set()

    async def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def stop(self) -> None:
        """What still waits is written, if that is soon done."""
        self._ending.set()
        self._news.set()
        task, self._task = self._task, None
        if task is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(task, _PATIENCE)
        await self._sink.close()
        for _ in range(len(self._queue)):
            self._observe("lost")
        self._queue.clear()

    async def _run(self) -> None:
        pause = _FIRST
        while True:
            await self._news.wait()
            if not self._queue:
                self._news.clear()
                if self._ending.is_set():
                    return
                continue
            if await self._write():
                pause = _FIRST
                continue
            if self._ending.is_set():
                return
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ending.wait(), pause)
            pause = min(2 * pause, _LONGEST)

    async def _write(self) -> bool:
        batch = [self._queue.popleft() for _ in range(min(_BATCH, len(self._queue)))]
        written = False
        try:
            dropped = await self._sink.write(batch)
            written = True
        except QueueFault as fault:
            self._observe(fault.kind)
            self._tell(False)
            return False
        finally:
            if written:
                self._held -= sum(map(len, batch))
            else:
                self._queue.extendleft(reversed(batch))
                self._cut()
        for _ in range(dropped):
            self._observe("dropped")
        self._tell(True)
        return True

    def _cut(self) -> None:
        while self._queue and (len(self._queue) > self._most or self._held > self._size):
            self._held -= len(self._queue.popleft())
            self._observe("displaced")

    def _tell(self, up: bool) -> None:
        if up is not self._up:
            self._up = up
            log.warning("the review queue is %s", "up" if up else "down")
