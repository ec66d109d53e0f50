"""A queue in a file: a line of JSON for each entry, and beside it the marks that reviewers leave.

    docket.jsonl         the entries, the oldest first
    docket.jsonl.marks   who has taken which, and what became of it
    docket.jsonl.done    entries that are dealt with, each with its mark; .done.1 holds those before
    docket.jsonl.lock    held by whoever reads or writes, for as long as that takes

Many gateways and tools may share it on one machine. A line that was torn by a crash is no entry and is told of; what
is written behind it stands on a line of its own. Only the owner may read any of it.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from gateway.files import beside
from gateway.refine._entry import Entry, Listing, Waiting, check_name, checked, pack, unpack
from gateway.refine._lines import append, locked, read, replace

LEASE = 3600.0  # seconds until what somebody has taken may be taken by another
_ROOM = 0.9  # of what a full queue may hold is left when it was tidied: it is not tidied for each entry


class Bounds(NamedTuple):
    """What a queue holds at most."""

    most: int
    bytes: int


class Mark(NamedTuple):
    """What a reviewer has left on an entry; without a verdict it is only taken."""

    ticket: str
    reviewer: str
    time: float
    verdict: str = ""
    note: str = ""


def files(path: Path) -> Iterator[Path]:
    """All that stands above, less the lock."""
    yield path
    yield from (beside(path, what) for what in ("marks", "done", "done.1"))


def pending(path: Path, most: int = 100) -> Listing:
    """What nobody has dealt with, the oldest first."""
    with locked(path, shared=True):
        waiting, unread = _open(path)
    return Listing(tuple(waiting[:most]), unread)


def take(path: Path, most: int, reviewer: str, now: float | None = None, lease: float = LEASE) -> Listing:
    """So many for this reviewer: first what is his already, then what others have left lying, then new ones."""
    moment = time.time() if now is None else now
    check_name(reviewer)
    with locked(path):
        waiting, unread = _open(path)
        his = [one for one in waiting if one.reviewer == reviewer]
        left = [one for one in waiting if one.reviewer not in ("", reviewer) and one.since <= moment - lease]
        fresh = [one for one in waiting if not one.reviewer]
        new = [one._replace(reviewer=reviewer, since=moment) for one in (left + fresh)[: max(0, most - len(his))]]
        if new:
            append(beside(path, "marks"), (_packed(Mark(one.ticket, reviewer, moment)) for one in new))
    return Listing((*his[:most], *new), unread)


def done(path: Path, ticket: str, verdict: str, note: str = "", reviewer: str = "", now: float | None = None) -> bool:
    """It is dealt with; false if it is not there. ValueError if the verdict is no word for one."""
    kept = checked(verdict, note)
    with locked(path):
        found = next((one for one in _open(path)[0] if one.ticket == ticket), None)
        if found is None:
            return False
        mark = Mark(ticket, reviewer or found.reviewer, time.time() if now is None else now, verdict, kept)
        append(beside(path, "marks"), [_packed(mark)])
    return True


class FileSink:
    """Appends, and tidies when the queue is full: what is dealt with moves to `.done`, then the oldest entries go."""

    def __init__(self, path: Path, bounds: Bounds) -> None:
        self._path, self._bounds = path, bounds
        self._known = (0, 0, 0)  # inode, bytes and lines of the file when it was last looked at

    async def write(self, lines: Sequence[bytes]) -> int:
        return await asyncio.to_thread(self._write, lines)

    async def close(self) -> None:
        """Nothing to close."""

    def _write(self, lines: Sequence[bytes]) -> int:
        with locked(self._path):
            append(self._path, lines)
            if self._count() <= self._bounds.most and self._path.stat().st_size <= self._bounds.bytes:
                return 0
            return _tidy(self._path, self._bounds)

    def _count(self) -> int:
        """Lines of the file; only what others or we have written since the last time is read."""
        with self._path.open("rb") as file:
            inode, size = (stat := os.fstat(file.fileno())).st_ino, stat.st_size
            known, start, lines = self._known
            if known != inode or start > size:
                start = lines = 0
            file.seek(start)
            while chunk := file.read(1 << 20):
                lines += chunk.count(b"\n")
        self._known = (inode, size, lines)
        return lines


class FileReviewing:
    """The same for a tool that must not block."""

    def __init__(self, path: Path, lease: float = LEASE) -> None:
        self._path, self._lease = path, lease

    async def pending(self, most: int = 100) -> Listing:
        return await asyncio.to_thread(pending, self._path, most)

    async def take(self, most: int, reviewer: str) -> Listing:
        return await asyncio.to_thread(take, self._path, most, reviewer, None, self._lease)

    async def done(self, ticket: str, verdict: str, note: str = "", reviewer: str = "") -> bool:
        return await asyncio.to_thread(done, self._path, ticket, verdict, note, reviewer)


def _read(path: Path) -> tuple[dict[str, Entry], int]:
    lines, unread = read(path)
    entries = {}
    for line in lines:
        try:
            entry = unpack(line)
        except ValueError:
            unread += 1
            continue
        entries[entry.id] = entry
    return entries, unread


def _marks(path: Path) -> dict[str, Mark]:
    """The last mark of each entry; once it is dealt with, nobody takes it any more."""
    found: dict[str, Mark] = {}
    for line in read(beside(path, "marks"))[0]:
        mark = _mark(line)
        if mark and not (mark.ticket in found and found[mark.ticket].verdict):
            found[mark.ticket] = mark
    return found


def _packed(mark: Mark) -> bytes:
    return orjson.dumps([*mark])


def _mark(line: bytes) -> Mark | None:
    try:
        match orjson.loads(line):
            case [str(ticket), str(reviewer), int() | float() as moment, str(verdict), str(note)]:
                return Mark(ticket, reviewer, moment, verdict, note)
    except orjson.JSONDecodeError:
        return None
    return None


def _open(path: Path) -> tuple[list[Waiting], int]:
    entries, unread = _read(path)
    marks = _marks(path)
    waiting = []
    for ticket, entry in entries.items():
        mark = marks.get(ticket)
        if mark is None:
            waiting.append(Waiting(ticket, entry))
        elif not mark.verdict:
            waiting.append(Waiting(ticket, entry, mark.reviewer, mark.time))
    return waiting, unread


def _tidy(path: Path, bounds: Bounds) -> int:
    """Make room; how many entries and unreadable lines are lost by it. A crash in between does no harm."""
    entries, lost = _read(path)
    marks = _marks(path)
    settled = dict.fromkeys(ticket for ticket in entries if ticket in marks and marks[ticket].verdict)
    if settled:
        _archive(beside(path, "done"), (_settled(entries[ticket], marks[ticket]) for ticket in settled), bounds.bytes)
    left = {ticket: pack(entry) for ticket, entry in entries.items() if ticket not in settled}
    size = sum(len(line) + 1 for line in left.values())
    for ticket in list(left):
        if len(left) <= _ROOM * bounds.most and size <= _ROOM * bounds.bytes:
            break
        size -= len(left.pop(ticket)) + 1
        lost += 1
    replace(path, left.values())
    replace(beside(path, "marks"), (_packed(mark) for ticket, mark in marks.items() if ticket in left))
    return lost


def _settled(entry: Entry, mark: Mark) -> bytes:
    told: Mapping[str, Any] = {"entry": orjson.Fragment(pack(entry)), "mark": mark._asdict()}
    return orjson.dumps(told)


def _archive(path: Path, lines: Iterable[bytes], size: int) -> None:
    if path.exists() and path.stat().st_size > size:
        path.replace(beside(path, "1"))
    append(path, lines)
