"""A fair sample of the traffic, for `retrace tune`: so many requests, each as likely to be among them as any other.

It holds what clients asked, in a file that only its owner may read. Nothing is sampled unless the configuration says
so.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from gateway import files

log = logging.getLogger(__name__)

PAUSE = 5.0  # seconds between two writings of the file


class Sampled(NamedTuple):
    """Where a sample goes, and how many requests it holds."""

    path: Path
    most: int


class Reservoir:
    """Algorithm R (Vitter 1985). `now` tells seconds."""

    def __init__(self, path: Path, most: int, now: Callable[[], float] = time.monotonic) -> None:
        self.path, self._most, self._now = path, most, now
        self._lines: list[bytes] = []
        self._seen = 0
        self._due = 0.0
        self._writing: asyncio.Task[None] | None = None

    def add(self, tenant: str, body: Mapping[str, Any]) -> None:
        """A request has passed. Now and then the file is written, beside the event loop."""
        self._seen += 1
        place = len(self._lines) if len(self._lines) < self._most else random.randrange(self._seen)
        if place >= self._most:
            return
        line = orjson.dumps({"tenant": tenant, "body": body})
        self._lines[place : place + 1] = [line]
        if self._now() >= self._due and (self._writing is None or self._writing.done()):
            self._due = self._now() + PAUSE
            self._writing = asyncio.create_task(self.write())

    async def write(self) -> None:
        """Write all of it; the file is there whole, or as it was."""
        await asyncio.to_thread(self._write, [*self._lines, b""])

    def _write(self, lines: list[bytes]) -> None:
        try:
            files.replace(self.path, b"\n".join(lines), files.PRIVATE)
        except OSError as fault:
            log.warning("the sample can't be written to %s: %s", self.path, fault.strerror)

    async def stop(self) -> None:
        """Write what came since the last time."""
        if self._lines:
            await self.write()
        if self._writing is not None:
            await self._writing
