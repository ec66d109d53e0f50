"""Captures' KV, in shared memory, bounded: it outlives the engine, and three kinds of process use it at once.

The engine's worker writes records and reads them, its scheduler looks captures up, the API's processes bring verdicts.
What the pool knows stands in an index (one SQLite file), the records in a file for each capture. Write, then publish:
a record is in place before its block is in the index, so a process may die at any instant and leave no torn entry.
It is a cache: it may lose anything, but never tell a lie, and its faults never reach who writes into it.
"""

from __future__ import annotations

import logging
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from gateway.kv import _index as index
from gateway.kv import _schema as schema
from gateway.kv._database import Database
from gateway.kv._disk import Disk
from gateway.kv._files import Files
from gateway.kv._held import Lease, Torn
from gateway.kv._intake import Intake
from gateway.kv._names import checked
from gateway.kv._room import Room
from gateway.kv._upkeep import Swept, Upkeep
from gateway.kv.nouns import OPEN_END, Block, Entry, Owner, State
from gateway.kv.settings import Settings

__all__ = ["Gone", "Lease", "Pool", "Swept", "Torn", "UnknownCapture", "Usage"]

log = logging.getLogger(__name__)

_QUIET = 60.0  # seconds between two complaints about the same pool


class UnknownCapture(KeyError):
    """No capture of this name was ever seen, or it is long forgotten."""

    def __str__(self) -> str:
        return f"no capture {self.args[0]!r} is known here"


class Gone(Exception):
    """The capture can't be used (any more): it has expired, or isn't kept, or isn't in memory."""


class Usage(NamedTuple):
    """What a pool holds now: bytes in memory, its bound, bytes on disk, captures by state."""

    bytes: int
    size: int
    disk_bytes: int
    entries: Mapping[State, int]


class Pool:
    """One pool, as one process sees it. Any thread may use it; not to be carried over a fork."""

    def __init__(self, settings: Settings, *, clock: Callable[[], float] = time.time) -> None:
        """Open the pool or begin an empty one. ValueError says what to do if its folders can't be used."""
        self._settings = settings
        self._clock = clock
        self._files = Files(settings.folder)
        self._disk = Disk(settings.disk) if settings.disk else None
        self._database = Database(settings.folder, schema.SCHEMA, schema.EDITION, self._wipe)
        self._room = Room(settings, self._database, self._files, self._disk, clock)
        self._intake = Intake(settings, self._database, self._files, self._room)
        self._upkeep = Upkeep(settings, self._database, self._files, self._disk, self._room, clock)
        self._used: deque[tuple[float, str]] = deque(maxlen=4096)  # leases not yet in the index
        self._complained = float("-inf")

    def begin(self, id: str, owner: Owner, block_size: int, record_bytes: int, prompt_tokens: int = 0) -> bool:
        """A request starts that is to be captured. False if the name was used by one that is over, or was dropped."""
        checked(id)
        if block_size < 1 or record_bytes < 1:
            raise ValueError(f"a block of {block_size} tokens and {record_bytes} bytes can't be captured")
        fresh = Entry(
            id, owner, State.PENDING, block_size, record_bytes, prompt_tokens=prompt_tokens, created=self._clock()
        )
        try:
            with self._database.writing() as db:
                row = index.row(db, id)
                if row is None:
                    index.insert(db, fresh, running=True)
                return row is None or index.continues(row, fresh)
        except (OSError, sqlite3.Error) as error:
            self._complain(id, error)
            return False

    def put(self, id: str, *records: tuple[Block, memoryview | bytes | bytearray]) -> int:
        """Write the records of the next blocks, in order, then publish them; evict first if need be.

        How many are in place: fewer than were given if the capture is over, a block isn't the next one, or there is no
        room. None, and the capture is dropped, if writing failed (a full disk): never an OSError.
        """
        checked(id)
        try:
            self._note_use()
            return self._intake.put(id, [(block, memoryview(record).cast("B")) for block, record in records])
        except (OSError, sqlite3.Error) as error:
            self._complain(id, error)
        try:
            self.drop(id)
        except (OSError, sqlite3.Error, UnknownCapture) as error:
            log.debug("and %s could not be dropped: %s", id, error)
        return 0

    def finish(self, id: str, report: Mapping[str, Any], tail: Sequence[int] = ()) -> None:
        """A request is over, captured or not: its report, and the time until a verdict has to come begins.

        `tail` are its tokens behind the last block."""
        checked(id)
        now = self._clock()
        try:
            with self._database.writing() as db:
                row = index.row(db, id)
                if row is None:
                    late = now + self._settings.hold
                    nobody = Owner("", "", "")
                    told = Entry(id, nobody, State.PENDING, 0, 0, created=now, expires=late, report=report)
                    index.insert(db, told, running=False)
                    return
                index.report(db, row, report, tail)
                if row.running:
                    index.close(db, row, now + self._settings.hold)
        except (OSError, sqlite3.Error) as error:
            self._complain(id, error)

    def keep(
        self,
        id: str,
        reason: str,
        sensitive: Sequence[tuple[int, int]] = (),
        *,
        output_sensitive: bool = False,
        ttl: float | None = None,
        priority: int = 0,
    ) -> Entry:
        """The verdict: keep it. Its sensitive spans add to those known; the rest replaces an earlier verdict.

        While the request runs, the blocks still to come belong to it too. UnknownCapture; Gone if it has expired.
        """
        lifetime = self._settings.ttl if ttl is None else ttl
        if not 0 < lifetime < float("inf"):
            raise ValueError(f"a capture can be kept for a number of seconds above 0, not for {lifetime}")
        if not all(0 <= start < end for start, end in sensitive):
            raise ValueError("each sensitive span must be [start, end) with 0 <= start < end")
        with self._database.writing() as db:
            row = self._known(db, id)
            if row.gone:
                raise Gone(f"{id} has expired; nothing of it can be kept")
            spans = [*row.spans, *sensitive, *([(row.prompt_tokens, OPEN_END)] if output_sensitive else [])]
            index.keep(db, row, reason, index.merged(spans), self._clock() + lifetime, priority)
            return index.entry(db, self._known(db, id))

    def drop(self, id: str) -> Entry:
        """The verdict: drop it. Its bytes go at once, or when nobody reads it any more. UnknownCapture."""
        with self._database.writing() as db:
            row = self._known(db, id)
            if not row.gone:
                index.expire(db, row, self._clock())
            entry = index.entry(db, self._known(db, id))
        self._room.free(id)
        return entry

    def entries(self, limit: int, state: State | None = None) -> list[Entry]:
        """The newest captures, of one state or of all; here a kept one is ACTIVE while somebody reads it."""
        found: list[Entry] = []
        stored = State.KEPT if state is State.ACTIVE else state
        with self._database.reading() as db:
            for row in index.newest(db, stored):
                if len(found) >= limit:
                    break
                now = self._state(row)
                if state in (None, now):
                    found.append(index.entry(db, row, now))
        return found

    def look(self, id: str) -> Entry:
        """One capture as `entries` tells it. UnknownCapture."""
        with self._database.reading() as db:
            row = self._known(db, id)
            return index.entry(db, row, self._state(row))

    def find(self, id: str) -> Entry | None:
        """A capture with its tokens, for who must not wait: a lookup, no lock, no file. None if it is unknown."""
        with self._database.reading() as db:
            row = index.row(db, checked(id))
            return index.entry(db, row) if row else None

    def lease(self, id: str) -> Lease:
        """The right to read a kept capture that is in memory. UnknownCapture; Gone otherwise (see `promote`)."""
        fd = self._files.share(checked(id))
        lease = None
        try:
            with self._database.reading() as db:
                row = self._known(db, id)
                if row.state != State.KEPT or row.on_disk or fd is None:
                    raise Gone(
                        f"{id} can't be read: it is {'on disk' if row.on_disk else row.state}, or on its way out"
                    )
                lease = Lease(fd, index.entry(db, row), index.crcs(db, row))
        finally:
            if lease is None and fd is not None:
                self._files.unshare(fd)
        self._used.append((self._clock(), id))
        return lease

    def promote(self, id: str) -> bool:
        """Bring a capture back from disk into memory, evicting for it. False if it can't be."""
        checked(id)
        try:
            return self._room.promote(id)
        except (OSError, sqlite3.Error) as error:
            self._complain(id, error)
            return False

    def recover(self) -> Swept:
        """At the engine's start, before its first `begin`: put in order what dead processes have left."""
        return self._upkeep.recover()

    def sweep(self) -> Swept:
        """Every few seconds: what is out of time expires, what nobody reads any more goes."""
        self._note_use()
        return self._upkeep.sweep()

    def usage(self) -> Usage:
        """To the byte: also what is dropped and still being read."""
        with self._database.reading() as db:
            totals, entries, kept = index.totals(db), index.counts(db), index.kept_in_memory(db)
        active = sum(map(self._files.being_read, kept))
        entries[State.KEPT] -= active
        entries[State.ACTIVE] = active
        return Usage(totals.bytes, self._settings.size, totals.disk, entries)

    def publish_engine(self, info: Mapping[str, Any]) -> None:
        """What the engine says of itself, for whoever asks for its health."""
        with self._database.writing() as db:
            index.note(db, "engine", info)

    def engine(self) -> Mapping[str, Any] | None:
        with self._database.reading() as db:
            return index.noted(db, "engine")

    def close(self) -> None:
        """Let go of the index. Using the pool again opens it again."""
        self._database.close()

    def _known(self, db: sqlite3.Connection, id: str) -> schema.Row:
        row = index.row(db, checked(id))
        if row is None:
            raise UnknownCapture(id)
        return row

    def _state(self, row: schema.Row) -> State:
        kept = row.state == State.KEPT and not row.on_disk
        return State.ACTIVE if kept and self._files.being_read(row.id) else State(row.state)

    def _note_use(self) -> None:
        """Enter the leases since the last time; who took them did not wait for it."""
        used = []
        while self._used:
            used.append(self._used.popleft())
        if used:
            with self._database.writing() as db:
                index.touch(db, used)

    def _wipe(self) -> None:
        self._files.wipe()
        if self._disk:
            self._disk.wipe()

    def _complain(self, id: str, error: Exception) -> None:
        now = self._clock()
        if now - self._complained >= _QUIET:
            self._complained = now
            log.warning("the pool in %s failed at %s: %s", self._settings.folder, id, error)
