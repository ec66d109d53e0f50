"""Pools made small, and captures whose every byte can be foretold: what the pool's tests share."""

from __future__ import annotations

import hashlib
import zlib
from pathlib import Path
from typing import Any

from gateway.kv._files import Files
from gateway.kv._held import HEADER, Lease
from gateway.kv.nouns import Block, Entry, Owner, State
from gateway.kv.pool import Pool
from gateway.kv.settings import Settings

OWNER = Owner("tenant", "", "fingerprint")
RECORD = 64  # bytes
TOKENS = 4  # of a block


class Clock:
    """A time that goes on when it is told to."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def record(id: str, index: int, size: int = RECORD) -> bytes:
    return hashlib.shake_128(f"{id}/{index}".encode()).digest(size)


def block(id: str, index: int, size: int = RECORD, holes: int = 0) -> Block:
    tokens = tuple(int.from_bytes(hashlib.sha256(f"{id}.{index}.{n}".encode()).digest()[:2]) for n in range(TOKENS))
    return Block(index, tokens, zlib.crc32(record(id, index, size)), holes)


def small(folder: Path, records: int = 8, **others: Any) -> Settings:
    """Room for so many records."""
    return Settings(**{"folder": folder / "pool", "size": records * RECORD, "ttl": 100.0, "hold": 10.0, **others})


def fill(pool: Pool, id: str, blocks: int = 1, *, kept: bool = True, priority: int = 0) -> None:
    """A capture whose request is over."""
    assert pool.begin(id, OWNER, TOKENS, RECORD, prompt_tokens=2)
    for index in range(blocks):
        assert pool.put(id, (block(id, index), record(id, index))), f"no room for {id}"
    pool.finish(id, {"captured_tokens": blocks * TOKENS})
    if kept:
        pool.keep(id, "R203", priority=priority)


def lying(folder: Path) -> int:
    """Bytes of records that the file system holds."""
    return sum(path.stat().st_size - HEADER for path in folder.glob("*.kv"))


def sound(pool: Pool, id: str) -> bool:
    """Whether every published block of a kept capture is what was written."""
    with pool.lease(id) as lease:
        into = bytearray(lease.entry.record_bytes)
        for index in range(lease.entry.blocks):
            lease.read(index, into)
            if into != record(id, index, len(into)):
                return False
        tokens = tuple(token for index in range(lease.entry.blocks) for token in block(id, index).tokens)
        return tokens == lease.entry.tokens


def known(pool: Pool, id: str) -> Entry:
    found = pool.find(id)
    assert found is not None
    return found


def leased(files: Files, records: list[bytes]) -> Lease:
    """A capture with these records, without a pool around it."""
    for index, record in enumerate(records):
        files.write("a", index, memoryview(record))
    fd = files.share("a")
    assert fd is not None
    size = len(records[0])
    entry = Entry("a", OWNER, State.KEPT, 4, size, holes=(0,) * len(records))
    return Lease(fd, entry, [zlib.crc32(record) for record in records])
