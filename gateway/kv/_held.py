"""Rights on the file of a capture: who reads it holds a lease, who removes or moves it a claim.

A lease is a shared lock on the file, a claim the exclusive one. The kernel drops a lock when its process dies, so there
is no count of readers that could leak.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from gateway.kv._crc import crc32
from gateway.kv.nouns import Entry

HEADER = 4096  # bytes before the first record: a page, so that records of whole pages lie on pages
_PORTION = 256 << 10  # bytes read before they are verified
_MOST_VIEWS = 512  # buffers of one call; the system takes 1,024


class Torn(Exception):
    """A record that is short, or not what was written. Whoever meets one drops the capture."""


class Held:
    """A locked file, until it is closed. No file: `fd` is None."""

    def __init__(self, fd: int | None) -> None:
        self.fd = fd

    def close(self) -> None:
        if self.fd is not None:
            unlock(self.fd)
            self.fd = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class Claim(Held):
    """The right to remove or replace a data file: nobody reads it, nobody can begin to. It may be void (no file)."""

    def __init__(self, path: Path, fd: int | None) -> None:
        super().__init__(fd)
        self.path = path

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)


class Lease(Held):
    """The right to read a capture: it is not evicted while this is open. Several threads may read at once."""

    def __init__(self, fd: int, entry: Entry, crcs: Sequence[int]) -> None:
        super().__init__(fd)
        self.entry = entry
        self._crcs = crcs

    def read(self, index: int, into: memoryview | bytearray) -> None:
        """Fill `into` (record_bytes, writable) with the record of block `index`; Torn if it isn't what was written."""
        self.fill(index, [memoryview(into).cast("B")])

    def fill(self, index: int, into: Sequence[memoryview]) -> None:
        """Fill buffers of bytes, one after the other, with the record of block `index`; together they take all of it.

        Torn if it isn't what was written; then what is in them may not be used.
        """
        size, crc, start = self.entry.record_bytes, 0, HEADER + index * self.entry.record_bytes
        if self.fd is None:
            raise ValueError("this lease is closed; take another one")
        if not 0 <= index < len(self._crcs):
            raise Torn(f"{self.entry.id} has {len(self._crcs)} blocks, no block {index}")
        if sum(view.nbytes for view in into) != size:
            raise ValueError(f"a record of {self.entry.id} has {size} bytes; give as many to read into")
        for views in _portions(into):
            self._fill(index, views, start)
            for view in views:  # while the processor's cache still has it
                crc, start = crc32(view, crc), start + view.nbytes
        if crc != self._crcs[index]:
            raise Torn(f"block {index} of {self.entry.id} is not what was written")

    def _fill(self, index: int, views: Sequence[memoryview], start: int) -> None:
        left = list(views)
        while left and self.fd is not None:
            read = os.preadv(self.fd, left, start)
            if not read:
                raise Torn(f"block {index} of {self.entry.id} is short")
            start += read
            while left and read >= left[0].nbytes:
                read -= left.pop(0).nbytes
            left[:1] = [view[read:] for view in left[:1]]


def _portions(views: Sequence[memoryview]) -> Iterator[list[memoryview]]:
    """The same in order, several at a time: few calls, and each portion fits into a processor's cache."""
    portion: list[memoryview] = []
    for view in views:
        if portion and (len(portion) == _MOST_VIEWS or sum(one.nbytes for one in portion) + view.nbytes > _PORTION):
            yield portion
            portion = []
        portion.append(view)
    if portion:
        yield portion


def unlock(fd: int) -> None:
    """Close a locked file; the lock goes at once, even if a forked child still holds the descriptor."""
    fcntl.flock(fd, fcntl.LOCK_UN)
    os.close(fd)
