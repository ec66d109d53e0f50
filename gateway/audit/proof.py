"""Whether the files of the audit log are as they were written: each line holds the hash of the one before.

What is found is the first break of each chain. A chain that is written to meanwhile is no break, nor is what its own
lines own up to: lines that were lost, a process that was killed, old files that made room.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from gateway.audit import _files
from gateway.audit._chain import GENESIS, Head, Link, capture_hash, hashed, head

MOST_CAPTURES = 1_000_000  # hashes of captures that are remembered, so that memory stays bounded
_STEP = 1 << 20
# Most lines are these, and their hash says enough of them.
_EXCHANGE = re.compile(rb'\{"seq":[0-9]+,"prev":"[0-9a-f]+","at":[0-9.e+]+,"kind":"exchange",')

Progress = Callable[[int], None]  # so many bytes more were read


class Break(NamedTuple):
    """The first place at which a chain is not as it was written: file, line (from 1), what is wrong, what it means."""

    file: Path
    line: int
    kind: str  # changed, missing, moved, foreign, cut, capture
    meaning: str


@dataclass(slots=True)
class Chain:
    """What is known of one chain once it was read."""

    worker: str
    files: int = 0
    lines: int = 0
    first: int = 0  # number of the oldest line that is there
    last: Link = _files.EMPTY
    broken: Break | None = None
    lost: int = 0  # lines that could not be written, by the log's own account
    starts: int = 0
    unclean: int = 0  # starts after a process that was killed
    lacks: int = 0  # lines that a power failure took, by the log's own account
    unended: int = 0  # bytes of a last line that has no end


def verified(folder: Path, progress: Progress = lambda _count: None) -> list[Chain]:
    """Every chain of a folder, read from its first line to its last. OSError if a file can't be read."""
    return [_Reader(folder, worker, files, progress).chain for worker, files in _files.chains(folder).items()]


def size(folder: Path) -> int:
    """Bytes to be read."""
    return sum(path.stat().st_size for files in _files.chains(folder).values() for path in files)


def head_of(line: bytes) -> Head:
    """What a line says of itself; nothing if it is none."""
    return head(line) or Head(0, GENESIS)


class _Reader:
    def __init__(self, folder: Path, worker: str, files: list[Path], progress: Progress) -> None:
        self.chain = Chain(worker, files=len(files))
        self._known = _files.read_head(folder, worker)  # before the files: they may only be longer
        self._progress = progress
        self._captures: OrderedDict[str, str] = OrderedDict()
        self._given_up = 0
        self._before: tuple[Path, int] | None = None
        for path in files:
            self._read(path)
            if self.chain.broken:
                return
        self._look_at_the_ends(files)

    def _read(self, path: Path) -> None:
        read, number, end = 0, 0, 0
        for number, (place, line) in enumerate(_files.lines(path), 1):
            self._take(path, number, line)
            if self.chain.broken:
                return
            end = place + len(line) + 1
            if end - read >= _STEP:
                self._progress(end - read)
                read = end
        self._progress(end - read)
        self.chain.unended = path.stat().st_size - end
        if number == 0 and self.chain.unended:
            self._break(path, 1, "foreign", "this is no line of an audit log: the file was damaged or written over")

    def _take(self, path: Path, number: int, line: bytes) -> None:
        told, last = head(line), self.chain.last
        if told is None:
            self._break(
                path, number, "foreign", "this is no line of an audit log: it was damaged, put in or written over"
            )
            return
        if not self.chain.lines:
            self.chain.first = told.seq
            begins = told.seq > 1 or told.prev == GENESIS
        else:
            begins = told.seq == last.seq + 1 and told.prev == last.hash
        if not begins:
            self._explain(path, number, told.seq)
            return
        self.chain.lines += 1
        self.chain.last = Link(told.seq, hashed(line))
        self._before = (path, number)
        if not _EXCHANGE.match(line) or b'"lost":' in line:
            self._look_into(path, number, line)

    def _explain(self, path: Path, number: int, seq: int) -> None:
        """Why a line does not follow the one before it."""
        last = self.chain.last.seq
        if seq == last + 1 and self._before is not None:
            was, at = self._before
            self._break(
                was, at, "changed", f"line {at} was changed after it was written, or the hash in the next one was"
            )
        elif seq > last + 1:
            self._break(
                path, number, "missing", f"{seq - last - 1} lines before this one are missing: {last + 1} to {seq - 1}"
            )
        else:
            self._break(
                path, number, "moved", f"line number {seq} stands behind {last}: lines were moved or put in twice"
            )

    def _look_into(self, path: Path, number: int, line: bytes) -> None:
        try:
            told = orjson.loads(line)
        except orjson.JSONDecodeError:
            self._break(path, number, "foreign", "this line is no JSON: it was damaged")
            return
        self.chain.lost += int(told.get("lost") or 0)
        match told.get("kind"):
            case "start":
                self.chain.starts += 1
                self.chain.unclean += not told.get("clean", True)
                self.chain.lacks += int(told.get("lacks") or 0)
            case "given_up":
                self._given_up = max(self._given_up, int(told.get("upto") or 0))
            case "reuse":
                self._look_at_capture(path, number, told)

    def _look_at_capture(self, path: Path, number: int, told: Mapping[str, Any]) -> None:
        """Its hash must be over its own line's words and its donor's hash."""
        kv = told.get("kv")
        if not isinstance(kv, dict):
            return
        parent, donor = kv.get("prev"), self._captures.get(str(told.get("donor") or ""))
        strange = parent and donor and parent != donor
        if strange or kv.get("hash") != capture_hash(told, parent or GENESIS):
            self._break(path, number, "capture", "the hash of this capture does not follow from its donor's")
            return
        self._captures[str(told.get("capture"))] = str(kv.get("hash"))
        while len(self._captures) > MOST_CAPTURES:
            self._captures.popitem(last=False)

    def _look_at_the_ends(self, files: list[Path]) -> None:
        """What the lines themselves can't hold: that the first ones are there, and the last ones."""
        chain = self.chain
        if chain.lines and chain.first > 1 and self._given_up < chain.first - 1:
            meaning = f"{chain.first - 1} lines before this one are missing, and no line says that they made room"
            self._break(files[0], 1, "missing", meaning)
        elif self._known is not None and self._known.seq > chain.last.seq:
            meaning = f"{self._known.seq - chain.last.seq} lines behind this one were written and are not there"
            self._break(files[-1], self._before[1] if self._before else 1, "cut", meaning)
        elif self._known is not None and self._known.seq == chain.last.seq and self._known.hash != chain.last.hash:
            where = self._before or (files[-1], 1)
            self._break(*where, "changed", f"line {where[1]}, the last one, was changed after it was written")

    def _break(self, file: Path, line: int, kind: str, meaning: str) -> None:
        self.chain.broken = Break(file, line, kind, meaning)
