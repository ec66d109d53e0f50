"""The line before the way out: bounded, in order, and nobody waits for it."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest

from gateway.tracing import _sender
from gateway.tracing._sender import BATCH, Sender

PATIENCE = 10.0


class Way:
    """The way out: open, shut, or refusing."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.open.set()
        self.takes = True
        self.batches: list[list[int]] = []
        self.told: Counter[str] = Counter()

    def carry(self, batch: Sequence[int]) -> bool:
        self.open.wait(PATIENCE)
        self.batches.append(list(batch))
        return self.takes

    def count(self, event: str, many: int) -> None:
        self.told[event] += many

    def until(self, many: int) -> None:
        ends = time.monotonic() + PATIENCE
        while sum(self.told.values()) < many:
            assert time.monotonic() < ends, self.told
            time.sleep(0.01)


@contextmanager
def sender(way: Way, most: int = 1000) -> Iterator[Sender[int]]:
    made = Sender(way.carry, most, way.count)
    made.start()
    try:
        yield made
    finally:
        way.open.set()
        made.stop(PATIENCE)


def test_what_is_put_in_leaves_in_its_order_in_batches() -> None:
    way = Way()
    with sender(way) as line:
        for n in range(100):
            line.put(n)
        way.until(100)
    assert [n for batch in way.batches for n in batch] == list(range(100))
    assert max(map(len, way.batches)) <= BATCH
    assert way.told == {"sent": 100}


def test_a_whole_batch_waits_for_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sender, "LINGER", 100 * PATIENCE)
    way = Way()
    with sender(way) as line:
        for n in range(BATCH):
            line.put(n)
        way.until(BATCH)
    assert way.batches == [list(range(BATCH))]


def test_what_finds_no_place_is_lost_and_nobody_waits() -> None:
    way = Way()
    way.open.clear()
    with sender(way, most=5) as line:
        for n in range(5):
            line.put(n)
        ends = time.monotonic() + PATIENCE
        while len(line._line) == 5 and time.monotonic() < ends:  # the thread takes the first batch, and is held up
            time.sleep(0.01)
        for n in range(8):
            line.put(n)
        assert way.told == {"dropped": 3}
    assert way.told == {"sent": 10, "dropped": 3}


def test_a_batch_that_is_not_taken_is_counted_and_the_next_is_tried(caplog: pytest.LogCaptureFixture) -> None:
    way = Way()
    way.takes = False
    with sender(way) as line:
        for n in range(3):
            line.put(n)
            way.until(n + 1)
        way.takes = True
        line.put(3)
        way.until(4)
    assert way.told == {"failed": 3, "sent": 1}
    assert [record.message for record in caplog.records] == [
        "traces are not taken where they are sent: they are lost",
        "traces are taken again",
    ]


def test_an_end_lets_out_what_waits() -> None:
    way = Way()
    with sender(way) as line:
        for n in range(70):
            line.put(n)
    assert way.told == {"sent": 70}


def test_an_end_waits_no_longer_than_it_may_and_counts_what_is_lost() -> None:
    way = Way()
    way.open.clear()
    line = Sender(way.carry, 1000, way.count)
    line.start()
    for n in range(BATCH + 7):
        line.put(n)
    line.stop(0.2)
    line.put(1)  # too late
    assert way.told["dropped"] >= 8
    way.open.set()
    line._thread.join(PATIENCE)
    assert not line._thread.is_alive()
    assert sum(way.told.values()) == BATCH + 8
