"""Who makes way for whom: eviction, and the moves between memory and disk.

Every removal goes: claim the file (nobody reads it), say in the index that this copy no longer counts, remove it, and
only then take its bytes off the totals. So the totals are never below what lies there, and a process that dies on the
way leaves bytes behind that the next one finds as leftovers.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import closing

from gateway.kv import _index as index
from gateway.kv import _schema as schema
from gateway.kv._database import Database
from gateway.kv._disk import Disk
from gateway.kv._files import Files
from gateway.kv._held import HEADER, Claim, Torn
from gateway.kv.nouns import State
from gateway.kv.settings import Settings

log = logging.getLogger(__name__)

_AT_ONCE = 8  # victims of each kind looked at before there is said to be no room; some may be being read
_ROUNDS = 8  # room that was made can be taken by another process


class Room:
    """The two tiers of a pool, each within its bound."""

    def __init__(
        self, settings: Settings, database: Database, files: Files, disk: Disk | None, clock: Callable[[], float]
    ) -> None:
        self._settings = settings
        self._database = database
        self._files = files
        self._disk = disk
        self._clock = clock

    def make(self, need: int) -> bool:
        """Evict until `need` more bytes fit into memory. False if they can't: the rest is being read or written."""
        if need > self._settings.size:
            return False
        while True:
            with self._database.reading() as db:
                if index.totals(db).bytes + need <= self._settings.size:
                    return True
                victims = index.several(db, schema.VICTIMS, _AT_ONCE)
            if not any(self._evict(victim) for victim in victims):
                return False

    def free(self, id: str) -> int:
        """Remove the copies of a capture that count no longer: bytes of memory freed. None while somebody reads it."""
        claim = self._files.claim(id)
        if claim is None:
            return 0
        with closing(claim):
            with self._database.reading() as db:
                row = index.row(db, id)
            if row is None:
                return 0
            in_memory, on_disk = row.gone or bool(row.on_disk), row.gone or not row.on_disk
            if in_memory:
                claim.remove()
            if on_disk and row.disk and self._disk:
                self._disk.remove(id)
            if (in_memory and row.bytes) or (on_disk and row.disk):
                with self._database.writing() as db:
                    index.settle(db, row, bytes=0 if in_memory else None, disk=0 if on_disk else None)
            return row.bytes if in_memory else 0

    def promote(self, id: str) -> bool:
        """Bring a displaced capture back into memory; True if it is there already. OSError, and it stays on disk."""
        with self._database.reading() as db:
            row = index.row(db, id)
        if row is None or row.state != State.KEPT or not row.on_disk:
            return row is not None and row.state == State.KEPT
        claim = self._files.claim(id, make=True)
        if claim is None or claim.fd is None:
            return False
        try:
            with closing(claim):
                return self._bring(id, claim.fd)
        finally:
            self.free(id)

    def _evict(self, victim: schema.Row) -> bool:
        """Whether memory was freed."""
        if victim.gone or victim.on_disk:
            return self.free(victim.id) > 0
        claim = self._files.claim(victim.id)
        if claim is None:
            return False
        with closing(claim):
            if not self._displace(victim, claim):
                self._give_up(victim)
        return self.free(victim.id) > 0

    def _give_up(self, victim: schema.Row) -> None:
        """Expire it, unless something has become of it since it was looked at."""
        with self._database.writing() as db:
            now = index.row(db, victim.id)
            if now and (now.state, now.running, now.on_disk) == (victim.state, victim.running, victim.on_disk):
                index.expire(db, now, self._clock())

    def _displace(self, victim: schema.Row, claim: Claim) -> bool:
        """Move a kept capture to disk. False if it can't be: no such tier, no room there, a fault of it."""
        if self._disk is None or victim.state != State.KEPT or claim.fd is None:
            return False
        if not self._reserve_on_disk(victim, self._disk.most(HEADER + victim.bytes)):
            return False
        try:
            taken = self._disk.store(victim.id, claim.fd)
        except OSError as error:
            log.warning("%s could not be moved to disk: %s", victim.id, error)
            return False
        with self._database.writing() as db:  # if it was dropped meanwhile, both copies are leftovers
            index.settle(db, victim, disk=taken, on_disk=True)
        return True

    def _reserve_on_disk(self, mover: schema.Row, need: int) -> bool:
        """Count `need` bytes on disk as the mover's; who is worth more than it does not make way."""
        if need > self._settings.disk_size:
            return False
        while True:
            with self._database.writing() as db:
                if index.totals(db).disk + need <= self._settings.disk_size:
                    index.settle(db, mover, disk=need)
                    return True
                victims = index.several(db, schema.DISK_VICTIMS, _AT_ONCE)
            if not any(self._evict_from_disk(victim, mover) for victim in victims):
                return False

    def _evict_from_disk(self, victim: schema.Row, mover: schema.Row) -> bool:
        """Whether room on disk was made."""
        if victim.on_disk and not victim.gone:
            if (victim.priority, victim.used) > (mover.priority, mover.used):
                return False
            claim = self._files.claim(victim.id)
            if claim is None:
                return False  # it is being brought back
            with closing(claim):
                self._give_up(victim)
        self.free(victim.id)
        with self._database.reading() as db:
            now = index.row(db, victim.id)
        return now is None or now.disk < victim.disk

    def _bring(self, id: str, target: int) -> bool:
        row = self._reserve(id)
        if row is None or self._disk is None:
            return False
        try:
            self._disk.load(id, target, HEADER + row.bytes)
        except Torn as torn:
            log.warning("%s is dropped: %s", id, torn)
            self._give_up(row)
            return False
        with self._database.writing() as db:
            now = index.row(db, id)
            if now is None or now.gone:
                return False
            index.settle(db, now, on_disk=False)
            index.touch(db, [(self._clock(), id)])
        return True

    def _reserve(self, id: str) -> schema.Row | None:
        """Count the bytes of a displaced capture as being in memory: its row then. None if they can't be."""
        for _ in range(_ROUNDS):
            with self._database.writing() as db:
                row = index.row(db, id)
                if row is None or row.gone or not row.on_disk:
                    return None
                need = row.blocks * row.record_bytes
                if index.totals(db).bytes + need <= self._settings.size:
                    index.settle(db, row, bytes=need)
                    return row._replace(bytes=need)
            if not self.make(need):
                return None
        return None
