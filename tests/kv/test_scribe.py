"""What the scribe is told is done in order, whatever became of what came before; nobody waits for it."""

from __future__ import annotations

import threading

from gateway.kv import scribe
from gateway.kv.scribe import Scribe
from gateway.kv.stats import Counts


def fail() -> None:
    raise ValueError("on purpose")


def test_all_is_done_in_order_past_a_fault() -> None:
    done: list[int] = []
    counts = Counts()
    worker = Scribe(counts)
    worker.do(done.append, 1)
    worker.do(fail)
    worker.do(done.append, 2)
    worker.close()
    assert done == [1, 2]
    assert counts.take() == {"faults": {"scribe": 1}}


def test_a_full_queue_forgets_and_counts() -> None:
    counts = Counts()
    worker = Scribe(counts)
    busy, gate = threading.Event(), threading.Event()

    def block() -> None:
        busy.set()
        gate.wait()

    worker.do(block)
    busy.wait()
    for _ in range(scribe.LONGEST + 10):
        worker.do(int)
    gate.set()
    assert counts.take() == {"faults": {"scribe_full": 10}}
