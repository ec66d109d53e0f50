"""What a pool needs now and then: what is out of time goes, and what processes that died have left is put in order."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import closing
from typing import NamedTuple

from gateway.kv import _index as index
from gateway.kv import _schema as schema
from gateway.kv._database import Database
from gateway.kv._disk import Disk
from gateway.kv._files import Files
from gateway.kv._room import Room
from gateway.kv.settings import Settings

log = logging.getLogger(__name__)

MEMORY = 600.0  # seconds the name of an expired capture is remembered, so that a late verdict is told what became of it
_AT_ONCE = 1000  # leftovers of a tier in one sweep


class Swept(NamedTuple):
    """What was put in order, in captures; `freed` in bytes of memory."""

    closed: int = 0  # their writer had died
    expired: int = 0
    freed: int = 0
    forgotten: int = 0
    strays: int = 0  # files of no capture


class Upkeep:
    """Of one pool. Several processes may do it at once."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        files: Files,
        disk: Disk | None,
        room: Room,
        clock: Callable[[], float],
    ) -> None:
        self._settings = settings
        self._database = database
        self._files = files
        self._disk = disk
        self._room = room
        self._clock = clock

    def sweep(self) -> Swept:
        """What is out of time expires, its bytes go (later, while it is read), in the end its name is forgotten."""
        expired = self._expire_overdue()
        with self._database.reading() as db:
            leftovers = index.several(db, schema.LEFTOVERS, _AT_ONCE)
        freed = sum(self._room.free(row.id) for row in leftovers)
        with self._database.writing() as db:
            forgotten = index.forget(db, self._clock() - MEMORY)
        return Swept(expired=expired, freed=freed, forgotten=forgotten)

    def recover(self) -> Swept:
        """No request of before is still running: close its capture, and match the index with the files."""
        self._database.check()
        with self._database.writing() as db:
            left_open = index.rows(db, schema.RUNNING)
            for row in left_open:
                index.close(db, row, self._clock() + self._settings.hold)
        lost = self._expire_lost()
        strays = self._remove_strays()
        swept = self.sweep()
        return swept._replace(closed=len(left_open), expired=swept.expired + lost, strays=strays)

    def _expire_overdue(self) -> int:
        now = self._clock()
        with self._database.reading() as db:
            if not index.rows(db, schema.OVERDUE, now):
                return 0
        with self._database.writing() as db:
            overdue = index.rows(db, schema.OVERDUE, now)
            for row in overdue:
                index.expire(db, row, now)
        return len(overdue)

    def _expire_lost(self) -> int:
        """Captures whose data is not there; what a dead writer did not get to publish is cut off."""
        with self._database.writing() as db:
            lost = [row for row in index.rows(db, schema.WITH_DATA) if not self._there(row)]
            for row in lost:
                log.warning("%s is dropped: its data is gone", row.id)
                index.expire(db, row, self._clock())
        return len(lost)

    def _there(self, row: schema.Row) -> bool:
        if row.on_disk:
            return self._disk is not None and self._disk.size(row.id) == row.disk
        return self._files.mend(row.id, row.blocks, row.record_bytes)

    def _remove_strays(self) -> int:
        """Files that the index knows nothing of. What it counts, if only as a leftover, is the sweep's."""
        strays = 0
        with self._database.writing() as db:
            for id in self._files.ids():
                row = index.row(db, id)
                claim = None if row and row.bytes else self._files.claim(id)
                if claim is not None:
                    with closing(claim):
                        claim.remove()
                    strays += 1
            for id in self._disk.ids() if self._disk else ():
                row = index.row(db, id)
                if self._disk and not (row and row.disk):
                    self._disk.remove(id)
                    strays += 1
        return strays
