"""One chain on disk: opened where the last process left it, appended to, turned over to a new file when one is full.

A process that was killed may leave a torn last line: it is set aside (`.torn`), and the chain says so in the next one.
Of what was written and not yet synced a power failure may take some: the first line after it says how many lines the
chain had been longer.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple

import orjson

from gateway.audit import _files
from gateway.audit._chain import Lineage, Link, chained, head
from gateway.audit._files import EMPTY, MODE, Claim, HeadFile

log = logging.getLogger(__name__)

Fsync = Literal["line", "batch", "rotate"]
STOP = "stop"  # the last line of a process that came to its end
_CAPTURE = b'"kind":"reuse"'


class Bounds(NamedTuple):
    """How large files grow, how many of a chain are kept, when they are synced; `gather`: seconds a line may wait."""

    bytes: int
    keep: int
    fsync: Fsync
    gather: float

    @property
    def desk(self) -> float:
        """How long of that it waits in the gateway; a process that dies takes no more with it."""
        return self.gather / 4


class Log:
    """A chain that is open. OSError from any of it: then nothing of what was to be written is. `again`: so many of the
    first lines may stand in it already, of a process that could not say how far it had come."""

    def __init__(self, folder: Path, bounds: Bounds, now: Callable[[], float] = time.time, again: int = 0) -> None:
        self._folder, self._bounds, self._now, self._again = folder, bounds, now, again
        self._claim: Claim = _files.claim(folder)
        self._handle = -1
        self._head: HeadFile | None = None
        try:
            self._head = HeadFile(folder, self.worker)
            self._lineage = Lineage()
            self._sticky: Mapping[str, Any] | None = None
            self._begin()
        except OSError:
            self._release()
            raise

    @property
    def worker(self) -> str:
        return self._claim.worker

    def _begin(self) -> None:
        """Find the end of the chain, mend it, and say in a line how it was found."""
        files = _files.chains(self._folder).get(self.worker, [])
        known = _files.read_head(self._folder, self.worker)
        link, clean, torn = self._mended(files)
        self._number = _files.number(files[-1]) if files else 1
        self._open(_files.named(self._folder, self.worker, self._number))
        self._link = link
        lacks = max(known.seq - link.seq, 0) if known else 0
        told = {"worker": self.worker, "pid": os.getpid(), "clean": clean and not lacks, "torn": torn, "lacks": lacks}
        if not told["clean"]:
            told["unsynced_ms"] = round(self._bounds.gather * 1000)
            words = "%s: %s was not closed: %d bytes of a torn line set aside, %d lines missing, and what came in the "
            words += "last %d ms may never have been written"
            log.warning(words, self._folder, self.worker, torn["bytes"] if torn else 0, lacks, told["unsynced_ms"])
        if self._again:
            told["again"] = self._again
        self.append([{"kind": "start", "fsync": self._bounds.fsync, **told}])

    def _mended(self, files: Sequence[Path]) -> tuple[Link, bool, dict[str, Any] | None]:
        """The last line of the chain, whether its process came to its end, and what was set aside."""
        torn: dict[str, Any] | None = None
        for path in reversed(files):
            end = _files.tail(path)
            if end.torn:
                torn = {"file": path.name, "bytes": len(end.torn)}
                _set_aside(path, end.end, end.torn)
            if end.link is not None and end.line is not None:
                self._remember(path)
                return end.link, orjson.loads(end.line).get("kind") == STOP, torn
        return EMPTY, not files, torn

    def _remember(self, path: Path) -> None:
        """The captures that the last file names: later ones may follow them."""
        for _, line in _files.lines(path):
            if _CAPTURE in line and head(line) is not None:
                told = orjson.loads(line)
                if isinstance(kv := told.get("kv"), dict):
                    self._lineage.note(str(told.get("capture")), str(kv.get("hash")))

    def append(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Write these lines, all or none, in the next file if this one is full."""
        if self._size >= self._bounds.bytes:
            self._rotate()
        self._write(records)

    def stick(self, record: Mapping[str, Any]) -> None:
        """This record stands near the beginning of each file from the next one on, so that it outlives old ones."""
        self._sticky = record

    def _write(self, records: Sequence[Mapping[str, Any]]) -> None:
        link, out = self._link, bytearray()
        for record in records:
            told = record if "at" in record else {"at": round(self._now(), 3), **record}
            if told["kind"] == "reuse":
                told = {**told, "kv": self._lineage.add(told)}
            line, link = chained(link, told)
            out += line + b"\n"
        written = 0
        try:
            while written < len(out):
                written += os.write(self._handle, memoryview(out)[written:])
            if self._bounds.fsync != "rotate":
                os.fsync(self._handle)
        except OSError:
            os.ftruncate(self._handle, self._size)
            raise
        self._size += len(out)
        self._link = link
        if self._head is not None:
            self._head.write(link)

    def _open(self, path: Path) -> None:
        """Write into this file from now on."""
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, MODE)
        if self._handle >= 0:
            os.close(self._handle)
        self._handle, self._size = handle, os.fstat(handle).st_size
        _files.settle(self._folder)

    def _rotate(self) -> None:
        """Go on in a new file; of more files than are kept the oldest goes, and the chain says so."""
        os.fsync(self._handle)
        path = _files.named(self._folder, self.worker, self._number + 1)
        self._open(path)
        self._number += 1
        first: list[Mapping[str, Any]] = [{"kind": "open", "file": path.name}]
        self._write([*first, *([self._sticky] if self._sticky else [])])
        files = _files.chains(self._folder)[self.worker]
        for old, following in islice(pairwise(files), max(len(files) - self._bounds.keep, 0)):
            told = next((head(line) for _, line in _files.lines(following)), None)
            self._write([{"kind": "given_up", "file": old.name, "upto": told.seq - 1 if told else 0}])
            old.unlink()

    def close(self, ended: bool = True) -> None:
        """Sync; and say that this is the end, if it is one and not a break."""
        try:
            if ended:
                self._write([{"kind": STOP}])
            os.fsync(self._handle)
        finally:
            self._release()

    def _release(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
        if self._head is not None:
            self._head.close()
        self._handle, self._head = -1, None
        os.close(self._claim.handle)


def _set_aside(path: Path, end: int, torn: bytes) -> None:
    """Take what is torn out of a file, and keep it beside it."""
    handle = os.open(path.with_suffix(".torn"), os.O_WRONLY | os.O_CREAT | os.O_APPEND, MODE)
    try:
        os.write(handle, torn + b"\n")
        os.fsync(handle)
    finally:
        os.close(handle)
    os.truncate(path, end)
