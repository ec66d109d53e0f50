"""Counts add up over threads and processes; what is measured is replaced."""

from __future__ import annotations

import threading

from gateway.kv.stats import Counts, flat, merged


def test_what_was_taken_is_counted_anew() -> None:
    counts = Counts()
    counts.add("loads")
    counts.add("declined", "tenant", 2)
    assert counts.take() == {"loads": {"": 1}, "declined": {"tenant": 2}}
    assert counts.take() == {}


def test_threads_lose_nothing() -> None:
    counts = Counts()

    def count() -> None:
        for _ in range(1000):
            counts.add("loads")

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts.take() == {"loads": {"": 4000}}


def test_tables_add_up_and_gauges_take_the_later_value() -> None:
    first = {"loads": {"": 2.0}, "pool_bytes": {"": 10.0}}
    second = {"loads": {"": 1.0}, "declined": {"tenant": 1.0}, "pool_bytes": {"": 4.0}}
    assert merged(first, second) == {"loads": {"": 3}, "declined": {"tenant": 1}, "pool_bytes": {"": 4}}
    assert first == {"loads": {"": 2}, "pool_bytes": {"": 10}}


def test_only_what_is_known_is_shown() -> None:
    assert list(flat({"loads": {"": 1}, "unheard_of": {"": 1}})) == [("loads", "", 1)]
