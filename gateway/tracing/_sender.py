"""A line that never grows beyond its bound, and a thread that carries away what stands in it, batch by batch.

Whoever puts something into it waits for nothing: what finds no place is lost, and counted.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

log = logging.getLogger(__name__)

LINGER = 1.0  # seconds that something may wait for others to leave with: a batch costs far more than what is in it
BATCH = 512

T = TypeVar("T")


class Sender(Generic[T]):
    """`carry` says whether a batch was taken; it may block. `count` hears how many were `sent`, `failed` or `dropped`.
    The thread calls both."""

    def __init__(self, carry: Callable[[Sequence[T]], bool], most: int, count: Callable[[str, int], None]) -> None:
        self._carry, self._most, self._count = carry, most, count
        self._line: deque[T] = deque()
        self._ending, self._due = threading.Event(), threading.Event()
        self._until = 0.0  # the monotonic second at which an ending must be over
        self._well = True
        self._thread = threading.Thread(target=self._run, name="traces", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def put(self, one: T) -> None:
        """It leaves when it can."""
        if len(self._line) < self._most and not self._ending.is_set():
            self._line.append(one)
            if len(self._line) >= BATCH:
                self._due.set()
        else:
            self._count("dropped", 1)

    def stop(self, seconds: float) -> None:
        """What waits may leave within so many seconds; the rest is lost. Blocks as long."""
        self._until = time.monotonic() + seconds
        self._ending.set()
        self._due.set()
        self._thread.join(seconds)
        self._lose()

    def _run(self) -> None:
        while True:
            self._due.wait(LINGER)
            self._due.clear()
            ending = self._ending.is_set()
            while self._line and not (ending and time.monotonic() >= self._until):
                self._leave()
            if ending or self._ending.is_set():
                break
        self._lose()

    def _leave(self) -> None:
        batch = [self._line.popleft() for _ in range(min(len(self._line), BATCH))]
        well = self._carry(batch)
        self._count("sent" if well else "failed", len(batch))
        if well is not self._well:
            self._well = well
            log.warning("traces are %s", "taken again" if well else "not taken where they are sent: they are lost")

    def _lose(self) -> None:
        lost = 0
        while self._line:
            self._line.popleft()
            lost += 1
        if lost:
            self._count("dropped", lost)
