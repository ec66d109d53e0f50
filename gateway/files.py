"""Files that processes share: each is there whole or as it was, changed by one at a time, led by one at most.

What belongs to a file stands beside it under its name and one word more: `.lock`, `.lead`, `.new` while it is written.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PRIVATE = 0o600  # readable to its owner alone
_PATIENCE = 2.0  # seconds for a lock
_PAUSE = 0.01  # seconds between two tries


def beside(path: Path, what: str) -> Path:
    """A file that belongs to this one."""
    return path.with_name(f"{path.name}.{what}")


def replace(path: Path, content: bytes, mode: int | None = None) -> None:
    """This instead of all that was there; a crash leaves the old or the new. The mode is as it was, unless one is
    given. OSError names the file, and leaves it as it was."""
    new = beside(path, f"{secrets.token_hex(4)}.new")  # a name of its own, for others may be writing too
    try:
        try:
            _write(new, content, _mode(path) if mode is None else mode)
            new.replace(path)
        finally:
            new.unlink(missing_ok=True)
    except OSError as fault:
        raise OSError(fault.errno, fault.strerror, str(path)) from fault


def _mode(path: Path) -> int | None:
    try:
        return stat.S_IMODE(path.stat().st_mode)
    except FileNotFoundError:
        return None


def _write(path: Path, content: bytes, mode: int | None) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else PRIVATE)
    with open(handle, "wb") as file:
        if mode is not None:
            os.fchmod(handle, mode)
        file.write(content)
        file.flush()
        os.fsync(handle)


@contextmanager
def locked(path: Path, mode: int = 0o644, *, shared: bool = False) -> Iterator[None]:
    """Nobody else has this lock meanwhile, unless all want it `shared`. OSError if it can't be had, a TimeoutError if
    another holds it too long."""
    handle = os.open(beside(path, "lock"), os.O_RDWR | os.O_CREAT, mode)
    try:
        _lock(handle, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, kind: int) -> None:
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
            return
        except BlockingIOError as fault:
            if time.monotonic() > end:
                raise TimeoutError(errno.ETIMEDOUT, "another holds its lock") from fault
            time.sleep(_PAUSE)


def lead(path: Path) -> int | None:
    """A lock that one process at most holds, until it ends or closes it; none if another does. OSError if there can be
    none, such as in a folder that nobody may write into."""
    handle = os.open(beside(path, "lead"), os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as fault:
        os.close(handle)
        if isinstance(fault, BlockingIOError):
            return None
        raise
    return handle
