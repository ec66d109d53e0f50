"""The files of the audit log: one chain for each worker process, each chain in numbered files.

    w0-00000001.jsonl    the lines of the first worker, the oldest first; a full file is followed by the next
    w0.head              how far that chain had come when it was written last
    w0.lock              held by the process that writes it; whoever takes its place goes on with the chain
    w0-00000001.torn     what a killed process left of a last line

Only their owner may read any of it.
"""

from __future__ import annotations

import fcntl
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import orjson

from gateway.audit._chain import GENESIS, Link, hashed, head

MODE, FOLDER_MODE = 0o600, 0o700
MOST = 256  # chains that may be written at once
TAIL = 16 << 20  # bytes from the end of a file in which its last line is looked for
_NAME = re.compile(r"(w[0-9]{1,3})-([0-9]{8})\.jsonl\Z")
_HEAD_SIZE = 160


class Claim(NamedTuple):
    """A chain that is ours until the handle is closed."""

    worker: str
    handle: int


def claim(folder: Path) -> Claim:
    """The first chain that nobody writes. OSError if the folder can't be used, or all are taken."""
    folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    for number in range(MOST):
        handle = os.open(folder / f"w{number}.lock", os.O_RDWR | os.O_CREAT, MODE)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            continue
        return Claim(f"w{number}", handle)
    raise OSError(f"{MOST} processes write into {folder} already")


def chains(folder: Path) -> dict[str, list[Path]]:
    """The files of each chain, the oldest first."""
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.glob("w*-*.jsonl")):
        if match := _NAME.match(path.name):
            found.setdefault(match[1], []).append(path)
    return dict(sorted(found.items(), key=lambda item: int(item[0][1:])))


def named(folder: Path, worker: str, number: int) -> Path:
    return folder / f"{worker}-{number:08d}.jsonl"


def number(path: Path) -> int:
    """Which file of its chain it is."""
    match = _NAME.match(path.name)
    return int(match[2]) if match else 0


class Tail(NamedTuple):
    """The end of a file: its last good line (None if there is none), where that ends, and what stands behind it."""

    line: bytes | None
    end: int
    torn: bytes

    @property
    def link(self) -> Link | None:
        told = head(self.line) if self.line is not None else None
        return Link(told.seq, hashed(self.line)) if told is not None and self.line is not None else None


def tail(path: Path) -> Tail:
    """What a file ends with. What is no line of a chain, and no complete one, is torn."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        begin = max(size - TAIL, 0)
        file.seek(begin)
        data = file.read()
    end = len(data)
    while end:
        start = data.rfind(b"\n", 0, end - 1) + 1
        if data[end - 1 : end] == b"\n" and _is_whole(data[start : end - 1]):
            return Tail(data[start : end - 1], begin + end, data[end:])
        end = start
    return Tail(None, begin, data)


def _is_whole(line: bytes) -> bool:
    if head(line) is None:
        return False
    try:
        orjson.loads(line)
    except orjson.JSONDecodeError:
        return False
    return True


def lines(path: Path, begin: int = 0) -> Iterator[tuple[int, bytes]]:
    """Each whole line with the place where it begins; a last one that has no end is left out."""
    place = begin
    with path.open("rb") as file:
        file.seek(begin)
        for line in file:
            if not line.endswith(b"\n"):
                return
            yield place, line[:-1]
            place += len(line)


def line_at(path: Path, place: int) -> bytes:
    """The line that begins there, without its end."""
    with path.open("rb") as file:
        file.seek(place)
        return file.readline().removesuffix(b"\n")


def read_head(folder: Path, worker: str) -> Link | None:
    """How far a chain had come, as its writer noted; None if it did not."""
    try:
        told = orjson.loads((folder / f"{worker}.head").read_bytes())
        return Link(int(told["seq"]), str(told["hash"]))
    except (OSError, ValueError, LookupError, TypeError):
        return None


class HeadFile:
    """Notes how far a chain has come: always the same bytes of one small file."""

    def __init__(self, folder: Path, worker: str) -> None:
        self._handle = os.open(folder / f"{worker}.head", os.O_RDWR | os.O_CREAT, MODE)

    def write(self, link: Link) -> None:
        os.pwrite(self._handle, orjson.dumps(link._asdict()).ljust(_HEAD_SIZE) + b"\n", 0)

    def close(self) -> None:
        os.close(self._handle)


def settle(folder: Path) -> None:
    """What was created or removed in a folder stays so after a power failure."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


EMPTY = Link(0, GENESIS)
