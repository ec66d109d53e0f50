"""The thread that writes: it is given lines, and tries until the disk takes them.

What is given to it within a short time is written together. A batch that can't be written is tried again until it
is, or until all ends. How much may wait is for those to bound who give it.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from gateway.audit._log import Bounds, Log

log = logging.getLogger(__name__)

BATCH = 1000  # lines that are written at once
RETRY = 0.5  # seconds between two tries at a disk that refuses
PATIENCE = 10  # seconds that an ending may take
_UNWRITABLE = (ValueError, TypeError, LookupError, MemoryError, RecursionError)

Count = Callable[[str, int], None]  # what became of so many lines: written, lost; and tries that failed
Told = Mapping[str, Any]


class Record(NamedTuple):
    """What is to be written. `more` is asked in the thread for what takes its time."""

    told: Told
    more: Callable[[], Told] | None = None
    sticks: bool = False  # it stands in each file from now on


def _is_json(told: Told) -> bool:
    try:
        orjson.dumps(told)
    except TypeError:
        log.error("a line of the audit log can't be told as JSON: %s", told.get("kind"))
        return False
    return True


class Writer:
    """Writes one chain from `start` to `stop`. `again`: see `Log`."""

    def __init__(self, folder: Path, bounds: Bounds, count: Count, again: int = 0) -> None:
        self._folder, self._bounds, self._count, self._again = folder, bounds, count, again
        self._queue: deque[Record] = deque()
        self._lock = threading.Lock()
        self._lost = 0  # since the last line that said so
        self._news, self._ending = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="audit", daemon=True)
        self._log: Log | None = None
        self._warned = False
        self._ended = True

    def start(self) -> None:
        self._thread.start()

    def put(self, records: Iterable[Record], lost: int = 0) -> None:
        """Have these written; before them so many were lost. Never waits for the disk, and never fails."""
        with self._lock:
            self._queue.extend(records)
            self._lost += lost
        self._news.set()

    def stop(self, ended: bool = True) -> None:
        """Write what waits, and end; what can't be written then is lost. `ended`: the log says that this was its
        end. Takes a few seconds at most."""
        self._ended = ended
        self._ending.set()
        self._news.set()
        self._thread.join(timeout=PATIENCE)

    def _run(self) -> None:
        while True:
            self._news.wait()
            if self._bounds.fsync == "batch":
                self._ending.wait(self._bounds.gather - self._bounds.desk)
            self._news.clear()
            while self._queue:
                if not self._flushed() and self._ending.wait(RETRY):
                    if not self._flushed():  # the last try
                        self._give_up()
                    continue
            if self._ending.is_set() and not self._queue:
                self._close()
                return

    def _flushed(self) -> bool:
        """Whether the next batch was written."""
        with self._lock:
            batch = [self._queue[n] for n in range(min(len(self._queue), self._size))]
            lost = self._lost
        try:
            if self._log is None:
                self._log = Log(self._folder, self._bounds, again=self._again)
            self._append(self._log, batch, lost)
        except OSError as fault:
            self._failed(fault)
            return False
        self._warned = False
        with self._lock:
            for _ in batch:
                self._queue.popleft()
            self._lost -= lost
        return True

    @property
    def _size(self) -> int:
        return 1 if self._bounds.fsync == "line" else BATCH

    def _append(self, chain: Log, batch: Sequence[Record], lost: int) -> None:
        told = [self._whole(record) for record in batch]
        for record in batch:
            if record.sticks:
                chain.stick(record.told)
        if lost:
            told[0] = {**told[0], "lost": lost}
        try:
            chain.append(told)
        except TypeError:  # nothing was written: one of them can't be told as JSON
            left = [one for one in told if _is_json(one)]
            self._count("lost", len(told) - len(left))
            chain.append(told := left)
        self._count("written", len(told))

    def _whole(self, record: Record) -> Told:
        """All that a record says; less what can't be told."""
        if record.more is None:
            return record.told
        try:
            return {**record.told, **record.more()}
        except _UNWRITABLE as fault:
            log.warning("the words of an exchange can't be written down: %r", fault)
            self._count("failed", 1)
            return {**record.told, "words": "failed"}

    def _failed(self, fault: OSError) -> None:
        self._count("failed", 1)
        if not self._warned:
            log.error("the audit log can't be written to %s: %s; %d lines wait", self._folder, fault, len(self._queue))
        self._warned = True

    def _give_up(self) -> None:
        with self._lock:
            gone = len(self._queue)
            self._queue.clear()
        self._count("lost", gone)
        log.error("%d lines of the audit log are lost: %s can't be written", gone, self._folder)

    def _close(self) -> None:
        if self._log is not None:
            try:
                self._log.close(self._ended)
            except OSError as fault:
                self._failed(fault)
