"""The house in force, and its successors: files that change are built and tried off to the side, then swapped in.

A file that is wrong changes nothing. What is wrong with it is told on stderr, on a metric and on /readyz until it is
mended.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import watchfiles

from gateway.config import House, Source, build
from gateway.errors import ConfigFault
from gateway.judge import OnBroken

log = logging.getLogger(__name__)

BESIDE = (".new", ".lock", ".lead", ".evidence")  # how the names of such files end
LOOK = 500  # milliseconds after which fresh eyes look for what came before them

Apply = Callable[[House], Awaitable[None]]


class Steward:
    """Keeps the house. `house` is always one that works."""

    def __init__(self, source: Source, on_broken: OnBroken, on_reload: Callable[[bool], None]) -> None:
        self._source, self._on_broken, self._on_reload = source, on_broken, on_reload
        self._read_at = _just_before()
        self.house = build(source, on_broken)
        self.known = self.house.standing.state  # of policies; what no file may say
        self._turn = asyncio.Lock()
        self._since = datetime.now(UTC)
        self._fault: ConfigFault | None = None
        self._failed_at: datetime | None = None
        on_reload(True)

    async def watch(self, apply: Apply) -> None:
        """Follow the files for ever; `apply` is told of each new house before it is in force."""
        while True:
            watched, written = self.house.watched, self.house.written
            folders = {file.parent for file in watched} | {self._source.path.resolve().parent}
            fresh = True  # what was saved before these folders were watched has told nobody
            eyes = watchfiles.awatch(
                *folders,
                watch_filter=self._noticed(),
                step=50,
                debounce=100,
                recursive=True,
                yield_on_timeout=True,
                rust_timeout=LOOK,
            )
            async for changes in eyes:
                if changes or (fresh and self._stale()):
                    await self.reload(apply)
                fresh = False
                if (self.house.watched, self.house.written) != (watched, written):
                    break  # other folders and files may matter now

    def _noticed(self) -> Callable[[watchfiles.Change, str], bool]:
        """Whether a change may matter: each does of a file that is read; else none of what we write ourselves all the
        time, nor of the files that stand beside others while these are written."""
        usual, watched, written = watchfiles.DefaultFilter(), self.house.watched, self.house.written

        def matters(change: watchfiles.Change, name: str) -> bool:
            path = Path(name)
            ours = name.endswith(BESIDE) or not written.isdisjoint((path, *path.parents))
            return usual(change, name) and (path in watched or not ours)

        return matters

    def _stale(self) -> bool:
        """Whether a file, or what a folder holds, has changed since the files were read."""
        files = self.house.watched
        try:
            return any(path.stat().st_ctime_ns >= self._read_at for path in {*files, *(file.parent for file in files)})
        except OSError:
            return True

    async def reload(self, apply: Apply) -> None:
        """Build a house from the files as they are now; if it stands, move in."""
        async with self._turn:
            await self._reload(apply)

    async def _reload(self, apply: Apply) -> None:
        self._read_at = _just_before()
        try:
            house = await asyncio.to_thread(build, self._source, self._on_broken, self.known)
        except ConfigFault as fault:
            self._fault, self._failed_at = fault, datetime.now(UTC)
            self._on_reload(False)
            log.error(
                "the new configuration is wrong and changes nothing; %s stays in force\n%s",
                self.house.revision,
                fault,
            )
            return
        self._fault, self.known = None, house.standing.state
        if house.revision != self.house.revision:
            await apply(house)
            self.house, self._since = house, datetime.now(UTC)
            log.warning("configuration %s is in force: %d rules", house.revision, len(house.rules))
        elif house.watched != self.house.watched:
            self.house = house  # the same, of other files
        self._on_reload(True)

    def status(self) -> dict[str, Any]:
        """What is in force, and what is wrong with the files if anything is."""
        state: dict[str, Any] = {
            "revision": self.house.revision,
            "since": self._since.isoformat(),
            "rules": len(self.house.rules),
        }
        if self._fault and self._failed_at:
            complaints = [
                {"file": str(c.file), "line": c.line, "field": c.field, "problem": c.problem, "fix": c.fix}
                for c in self._fault.complaints
            ]
            state["last_error"] = {"at": self._failed_at.isoformat(), "complaints": complaints}
        return state


def _just_before() -> int:
    """Now, as file systems tell it: their clock is a little behind."""
    return time.time_ns() - 20_000_000
