"""How records enter a pool: written into their file, then published, as many at once as there are."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

from gateway.kv import _index as index
from gateway.kv._database import Database
from gateway.kv._files import Files
from gateway.kv._room import Room
from gateway.kv._schema import Row
from gateway.kv.nouns import Block
from gateway.kv.settings import Settings

_ROUNDS = 8  # room that was made for a record can be taken by another process

Record = tuple[Block, memoryview]


class _Written(NamedTuple):
    """How many records of those given are in place, and whether the next one only lacks room."""

    done: int
    full: bool


class Intake:
    """Of one pool. Any thread may use it."""

    def __init__(self, settings: Settings, database: Database, files: Files, room: Room) -> None:
        self._settings, self._database, self._files, self._room = settings, database, files, room

    def put(self, id: str, records: Sequence[Record]) -> int:
        """Write the next records of a capture and publish them; evict first if need be. How many are in place.

        OSError and sqlite3.Error if that fails: then none of those that were written in the same turn are published.
        """
        done = tries = 0
        while tries < _ROUNDS:
            with self._database.writing() as db:
                row = index.row(db, id)
                if row is None or row.gone or not row.running:
                    return done
                taken, full = self._write(db, row, records[done:])
            done += taken
            if not full or not self._room.make(row.record_bytes):
                return done
            tries = 0 if taken else tries + 1
        return done

    def _write(self, db: sqlite3.Connection, row: Row, records: Sequence[Record]) -> _Written:
        """As many of them as are the next ones and find room; those that are published already count as written."""
        for block, record in records:
            if len(block.tokens) != row.block_size or record.nbytes != row.record_bytes:
                raise ValueError(f"{row.id} has blocks of {row.block_size} tokens and {row.record_bytes} bytes")
        done = 0
        while done < len(records) and index.holds(db, row, records[done][0]):
            done += 1
        room = (self._settings.size - index.totals(db).bytes) // row.record_bytes
        fresh: list[Block] = []
        for block, record in records[done:]:
            if block.index != row.blocks + len(fresh) or len(fresh) >= room:
                break
            self._files.write(row.id, block.index, record)
            fresh.append(block)
        if fresh:
            index.publish(db, row, fresh)
        done += len(fresh)
        return _Written(done, done < len(records) and records[done][0].index == row.blocks + len(fresh))
