"""Files of whole lines that programs share: appended to or replaced under a lock, and readable after any crash."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from gateway import files
from gateway.refine._entry import QueueFault


@contextmanager
def locked(path: Path, *, shared: bool = False) -> Iterator[None]:
    """Nobody else writes meanwhile, nor reads unless it is `shared`. QueueFault if the files can't be used."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with files.locked(path, files.PRIVATE, shared=shared):
            yield
    except OSError as fault:
        kinds = {errno.ETIMEDOUT: "locked", errno.ENOSPC: "full"}
        raise QueueFault(kinds.get(fault.errno or 0, "unwritable"), f"{path}: {fault.strerror}") from fault


def append(path: Path, lines: Iterable[bytes]) -> None:
    """All of them, or none: what was written in part is taken back. A torn line before them is ended first."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, files.PRIVATE)
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
    files.replace(path, b"".join(line + b"\n" for line in lines), files.PRIVATE)
