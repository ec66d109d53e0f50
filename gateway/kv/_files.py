"""The data of captures in memory: one file each, `<id>.kv`, a header and then records of one size.

Who reads a file holds a shared lock on it, who removes or moves it the exclusive one. The kernel drops a lock when its
process dies, so there is no count of readers that could leak. Only names of our own form are ever touched.
"""

from __future__ import annotations

import fcntl
import os
import re
import stat
import struct
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from gateway.kv._crc import crc32
from gateway.kv.nouns import Entry

HEADER = 4096  # bytes before the first record: a page, so that records of whole pages lie on pages
MODE = 0o600
_HEAD = struct.Struct("<8sIQ")  # magic, format, bytes of a record
_MAGIC = b"RETRACE\0"
_FORMAT = 1
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SUFFIX = ".kv"
# How often to try to lock a file: who only looks whether it is being read holds it for an instant, or as long as he is
# not on a processor. A reader is patient; who wants a file gone takes another one, or comes again.
_READER_TRIES, _OTHER_TRIES = 20, 4
_PAUSE = 0.0005  # seconds between two tries
_PORTION = 256 << 10  # bytes read before they are verified
_MOST_VIEWS = 512  # buffers of one call; the system takes 1,024


class Torn(Exception):
    """A record that is short, or not what was written. Whoever meets one drops the capture."""


def checked(id: str) -> str:
    """`id`, if it may be a file's name; else ValueError."""
    if not _ID.fullmatch(id):
        raise ValueError(f"a capture's id must be 1 to 64 characters out of A-Z a-z 0-9 _ -, not {id[:80]!r}")
    return id


def own(folder: Path) -> Path:
    """`folder`, made if it is missing. ValueError says what to do if others may enter, or it is none of ours."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise ValueError(
            f"{folder} can't be a folder for captures ({error.strerror}); name another one "
            "(RETRACE_POOL in memory, RETRACE_POOL_DISK on disk)"
        ) from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise ValueError(f"{folder} is not a folder of this user's own; remove it, or name another one")
    if found.st_mode & 0o077:
        raise ValueError(f"others may enter {folder}; `chmod 700` it, or name a folder in it that is yet to be made")
    return folder


class Claim:
    """The right to remove or replace a data file: nobody reads it, nobody can begin to. No file: `fd` is None."""

    def __init__(self, path: Path, fd: int | None) -> None:
        self.path = path
        self.fd = fd

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)

    def close(self) -> None:
        if self.fd is not None:
            _unlock(self.fd)
            self.fd = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class Lease:
    """The right to read a capture: it is not evicted while this is open. Several threads may read at once."""

    def __init__(self, fd: int, entry: Entry, crcs: Sequence[int]) -> None:
        self.entry = entry
        self._fd: int | None = fd
        self._crcs = crcs

    def read(self, index: int, into: memoryview | bytearray) -> None:
        """Fill `into` (record_bytes, writable) with the record of block `index`; Torn if it isn't what was written."""
        self.fill(index, [memoryview(into).cast("B")])

    def fill(self, index: int, into: Sequence[memoryview]) -> None:
        """Fill buffers of bytes, one after the other, with the record of block `index`; together they take all of it.

        Torn if it isn't what was written; then what is in them may not be used.
        """
        size, crc, start = self.entry.record_bytes, 0, HEADER + index * self.entry.record_bytes
        if self._fd is None:
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
        while left and self._fd is not None:
            read = os.preadv(self._fd, left, start)
            if not read:
                raise Torn(f"block {index} of {self.entry.id} is short")
            start += read
            while left and read >= left[0].nbytes:
                read -= left.pop(0).nbytes
            left[:1] = [view[read:] for view in left[:1]]

    def close(self) -> None:
        if self._fd is not None:
            _unlock(self._fd)
            self._fd = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class Files:
    """The data files of one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def path(self, id: str) -> Path:
        return self._folder / f"{id}{_SUFFIX}"

    def write(self, id: str, index: int, record: memoryview) -> None:
        """Put a record in its place, the header before the first one. OSError, and nothing is left of it."""
        fd = os.open(self.path(id), os.O_WRONLY | (0 if index else os.O_CREAT | os.O_TRUNC), MODE)
        start = HEADER + index * record.nbytes
        try:
            if not index:
                _fill(fd, memoryview(_HEAD.pack(_MAGIC, _FORMAT, record.nbytes)), 0)
            _fill(fd, record, start)
        except OSError:
            os.ftruncate(fd, start if index else 0)  # a full disk has room again for what must be written next
            raise
        finally:
            os.close(fd)

    def mend(self, id: str, blocks: int, record_bytes: int) -> bool:
        """Cut off what stands behind `blocks` records. False if there are fewer, or no such file, or another's."""
        try:
            fd = os.open(self.path(id), os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            length = HEADER + blocks * record_bytes
            size = os.fstat(fd).st_size
            if size < length or os.pread(fd, _HEAD.size, 0) != _HEAD.pack(_MAGIC, _FORMAT, record_bytes):
                return False
            if size > length:
                os.ftruncate(fd, length)
            return True
        finally:
            os.close(fd)

    def claim(self, id: str, *, make: bool = False) -> Claim | None:
        """The exclusive lock on a file (made empty if it is missing and `make`); None while somebody reads it."""
        flags = os.O_RDWR | (os.O_CREAT if make else 0)
        try:
            fd = self._locked(id, flags, fcntl.LOCK_EX)
        except FileNotFoundError:
            return Claim(self.path(id), None)
        return None if fd is None else Claim(self.path(id), fd)

    def share(self, id: str) -> int | None:
        """A descriptor that holds the shared lock; None if there is no such file or it is being removed."""
        try:
            return self._locked(id, os.O_RDONLY, fcntl.LOCK_SH)
        except FileNotFoundError:
            return None

    def unshare(self, fd: int) -> None:
        _unlock(fd)

    def being_read(self, id: str) -> bool:
        """Whether somebody holds a lease at this instant."""
        try:
            fd = os.open(self.path(id), os.O_RDONLY)
        except FileNotFoundError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            _unlock(fd)
        return False

    def _locked(self, id: str, flags: int, how: int) -> int | None:
        for attempt in range(_READER_TRIES if how == fcntl.LOCK_SH else _OTHER_TRIES):
            if attempt:
                time.sleep(_PAUSE)
            fd = os.open(self.path(id), flags, MODE)
            try:
                fcntl.flock(fd, how | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(fd)
                continue
            if os.fstat(fd).st_nlink:  # else it was removed between the two calls
                return fd
            os.close(fd)
        return None

    def ids(self) -> list[str]:
        """Of all data files that lie there."""
        return ids(self._folder, _SUFFIX)

    def wipe(self) -> None:
        """Remove all data files, read or not: who reads one keeps what he has."""
        for id in self.ids():
            self.path(id).unlink(missing_ok=True)


def ids(folder: Path, suffix: str) -> list[str]:
    """The captures whose files of that suffix lie in a folder; none if it is gone."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    stems = (name.removesuffix(suffix) for name in names if name.endswith(suffix))
    return [stem for stem in stems if _ID.fullmatch(stem)]


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


def _fill(fd: int, data: memoryview, offset: int) -> None:
    while data:
        done = os.pwrite(fd, data, offset)
        data, offset = data[done:], offset + done


def _unlock(fd: int) -> None:
    """Close a locked file; the lock goes at once, even if a forked child still holds the descriptor."""
    fcntl.flock(fd, fcntl.LOCK_UN)
    os.close(fd)
