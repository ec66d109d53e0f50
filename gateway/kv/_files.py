"""The data of captures in memory: one file each, `<id>.kv`, a header and then records of one size.

Who may do what with one is settled by locks (_held.py). Only names of our own form are ever touched.
"""

from __future__ import annotations

import fcntl
import os
import struct
import time
from pathlib import Path

from gateway.kv._held import HEADER, Claim, unlock
from gateway.kv._names import MODE, ids

_HEAD = struct.Struct("<8sIQ")  # magic, format, bytes of a record
_MAGIC = b"RETRACE\0"
_FORMAT = 1
_SUFFIX = ".kv"
# How often to try to lock a file: who only looks whether it is being read holds it for an instant, or as long as he is
# not on a processor. A reader is patient; who wants a file gone takes another one, or comes again.
_READER_TRIES, _OTHER_TRIES = 20, 4
_PAUSE = 0.0005  # seconds between two tries


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
        unlock(fd)

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
            unlock(fd)
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


def _fill(fd: int, data: memoryview, offset: int) -> None:
    while data:
        done = os.pwrite(fd, data, offset)
        data, offset = data[done:], offset + done
