"""What must be written down but not waited for: a thread that does it in order, with a bounded queue."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

from gateway.kv.shield import Shield
from gateway.kv.stats import Counts

LONGEST = 4096


class Scribe:
    """Does what it is told, one after the other; what it is told while its queue is full is counted and forgotten."""

    def __init__(self, counts: Counts) -> None:
        self._counts, self._shield = counts, Shield(counts)
        self._work: queue.Queue[tuple[Callable[..., Any], tuple[Any, ...]] | None] = queue.Queue(LONGEST)
        self._thread = threading.Thread(target=self._run, name="retrace-scribe", daemon=True)
        self._thread.start()

    def do(self, work: Callable[..., Any], *args: Any) -> None:
        self._put((work, args))

    def close(self) -> None:
        """All that was told before is done, or five seconds are over."""
        self._put(None)
        self._thread.join(timeout=5)

    def _put(self, work: tuple[Callable[..., Any], tuple[Any, ...]] | None) -> None:
        try:
            self._work.put_nowait(work)
        except queue.Full:
            self._counts.add("faults", "scribe_full")

    def _run(self) -> None:
        while (told := self._work.get()) is not None:
            work, args = told
            with self._shield("scribe"):
                work(*args)
