"""The table of captures, and the questions that are put to it by name.

A capture's data may lie in memory or on disk; `on_disk` says which copy counts, `bytes` and `disk` what each tier holds
of it now. A copy in the other tier, or of an expired capture, is a leftover. The totals follow by trigger.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from gateway.kv.nouns import State

EDITION = 2  # of the schema and of the data files; a pool of another one is started anew
SCHEMA = """
CREATE TABLE captures (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL, adapter TEXT NOT NULL, fingerprint TEXT NOT NULL,
    state TEXT NOT NULL, running INTEGER NOT NULL,
    block_size INTEGER NOT NULL, record_bytes INTEGER NOT NULL, prompt_tokens INTEGER NOT NULL, blocks INTEGER NOT NULL,
    reason TEXT NOT NULL, sensitive TEXT NOT NULL, priority INTEGER NOT NULL,
    created REAL NOT NULL, expires REAL NOT NULL, used REAL NOT NULL,
    on_disk INTEGER NOT NULL, tail BLOB NOT NULL, bytes INTEGER NOT NULL, disk INTEGER NOT NULL, report TEXT NOT NULL
);
CREATE INDEX memory_leftovers ON captures (seq) WHERE bytes > 0 AND (state = 'expired' OR on_disk);
CREATE INDEX disk_leftovers ON captures (seq) WHERE disk > 0 AND (state = 'expired' OR NOT on_disk);
CREATE INDEX waiting ON captures (seq) WHERE state = 'pending' AND NOT running AND bytes > 0;
CREATE INDEX kept ON captures (priority, used) WHERE state = 'kept' AND NOT running AND NOT on_disk AND bytes > 0;
CREATE INDEX displaced ON captures (priority, used) WHERE state = 'kept' AND on_disk;
CREATE INDEX timed ON captures (expires) WHERE state != 'expired' AND NOT running;
CREATE INDEX dead ON captures (expires) WHERE state = 'expired';
CREATE INDEX running ON captures (seq) WHERE running;
CREATE TABLE runs (
    capture INTEGER NOT NULL, first INTEGER NOT NULL, tokens BLOB NOT NULL, crcs BLOB NOT NULL, holes BLOB NOT NULL,
    PRIMARY KEY (capture, first)
) WITHOUT ROWID;
CREATE TABLE totals (bytes INTEGER NOT NULL, disk INTEGER NOT NULL);
INSERT INTO totals VALUES (0, 0);
CREATE TRIGGER moved AFTER UPDATE OF bytes, disk ON captures BEGIN
    UPDATE totals SET bytes = bytes + new.bytes - old.bytes, disk = disk + new.disk - old.disk;
END;
CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID
"""


class Row(NamedTuple):
    """One line of the table, without its blocks."""

    seq: int
    id: str
    tenant: str
    adapter: str
    fingerprint: str
    state: str
    running: int  # its request may still bring blocks
    block_size: int
    record_bytes: int
    prompt_tokens: int
    blocks: int
    reason: str
    sensitive: str
    priority: int
    created: float
    expires: float  # of an expired one: when it ended
    used: float
    on_disk: int
    tail: bytes
    bytes: int
    disk: int
    report: str

    @property
    def gone(self) -> bool:
        return self.state == State.EXPIRED

    @property
    def spans(self) -> list[tuple[int, int]]:
        return [(start, end) for start, end in json.loads(self.sensitive)]


class Totals(NamedTuple):
    """Bytes in memory and on disk, leftovers included."""

    bytes: int
    disk: int


ROW = f"SELECT {', '.join(Row._fields)} FROM captures"
# Who makes way in memory, in order: what serves nobody, what has no verdict yet, what was kept.
VICTIMS = tuple(
    f"{ROW} INDEXED BY {index} WHERE {where} LIMIT ?"
    for index, where in (
        ("memory_leftovers", "bytes > 0 AND (state = 'expired' OR on_disk) ORDER BY seq"),
        ("waiting", "state = 'pending' AND NOT running AND bytes > 0 ORDER BY seq"),
        ("kept", "state = 'kept' AND NOT running AND NOT on_disk AND bytes > 0 ORDER BY priority, used"),
    )
)
DISK_VICTIMS = tuple(
    f"{ROW} INDEXED BY {index} WHERE {where} LIMIT ?"
    for index, where in (
        ("disk_leftovers", "disk > 0 AND (state = 'expired' OR NOT on_disk) ORDER BY seq"),
        ("displaced", "state = 'kept' AND on_disk ORDER BY priority, used"),
    )
)
LEFTOVERS = (VICTIMS[0], DISK_VICTIMS[0])
OVERDUE = f"{ROW} INDEXED BY timed WHERE state != 'expired' AND NOT running AND expires <= ?"
WITH_DATA = f"{ROW} WHERE state != 'expired' AND blocks > 0"
RUNNING = f"{ROW} INDEXED BY running WHERE running"
