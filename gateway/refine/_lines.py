"""Files of whole lines that programs share: appended to or replaced under a lock, and readable after any crash."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from gateway.refine._entry import QueueFault

MODE = 0o600
_PATIENCE = 2.0  # seconds for the lock


def beside(path: Path, what: str) -> Path:
    """A file that belongs to this one."""
    return path.with_name(f"{path.name}.{what}")


@contextmanager
def locked(path: Path, *, shared: bool = False) -> Iterator[None]:
    """Nobody else writes meanwhile, nor reads unless it is `shared`. QueueFault if the files can't be used."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(beside(path, "lock"), os.O_RDWR | os.O_CREAT, MODE)
        try:
            _lock(handle, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)
    except OSError as fault:
        kinds = {errno.ETIMEDOUT: "locked", errno.ENOSPC: "full"}
        raise QueueFault(kinds.get(fault.errno or 0, "unwritable"), f"{path}: {fault.strerror}") from fault


def _lock(handle: int, kind: int) -> None:
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
            return
        except BlockingIOError as fault:
            if time.monotonic() > end:
                raise TimeoutError(errno.ETIMEDOUT, "another holds its lock") from fault
            time.sleep(0.01)


def append(path: Path, lines: Iterable[bytes]) -> None:
    """All of them, or none: what was written in part is taken back. A torn line before them is ended first."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, MODE)
    try:
        end = os.fstat(handle).st_size
        torn = end and os.pread(handle, 1, end - 1) != b"\n"
        text = b"".join((b"\n" if torn else b"", *(line + b"\n" for line in lines)))
        if os.write(handle, text) < len(text):
            os.ftruncate(handle, end)
            raise OSError(errno.ENOSPC, "no room for a line")
        os.fsync(handle)
    finally:
        os.close(handle)


def read(path: Path) -> tuple[list[bytes], int]:
    """Whole lines, and how many are torn."""
    if not path.exists():
        return [], 0
    *lines, tail = path.read_bytes().split(b"\n")
    return lines, int(bool(tail))


def replace(path: Path, lines: Iterable[bytes]) -> None:
    """These lines instead of all that were there; a crash leaves the old ones, or the new."""
    new = beside(path, "new")
    new.unlink(missing_ok=True)
    append(new, lines)
    new.replace(path)
