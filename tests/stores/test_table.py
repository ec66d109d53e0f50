"""The table from keys to slots."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.stores._table import WAYS, Table

TOP = 1 << 40


def words(*keys: int) -> Any:
    return np.array(keys, np.uint64)


def slots(table: Table, key: int) -> list[int]:
    where, found = table.find(words(key))
    assert set(where.tolist()) <= {0}
    return list(found.tolist())


def test_pairs_come_in_the_order_of_the_keys_and_the_newest_slot_first() -> None:
    table = Table(1000)
    for slot in (1, 2, 3):
        table.add(words(5, 6), slot)
    table.add(words(7), (1 << 24) - 1)
    where, found = table.find(words(7, 8, 6))
    assert list(zip(where.tolist(), found.tolist(), strict=True)) == [(0, (1 << 24) - 1), (2, 3), (2, 2), (2, 1)]


def test_a_full_bucket_loses_its_oldest() -> None:
    table = Table(1)
    same = [n << 20 for n in range(WAYS + 1)]  # all in one bucket
    for slot, key in enumerate(same, 1):
        table.add(words(key), slot)
    assert [slots(table, key) for key in same] == [[], *([slot] for slot in range(2, WAYS + 2))]
    assert len(table) == WAYS


def test_a_key_that_everybody_shares_crowds_out_nobody() -> None:
    table = Table(1)
    for slot in range(1, 4):
        table.add(words(slot << 20), slot)
    for slot in range(10, 200):
        table.add(words(0), slot)
    assert [slots(table, slot << 20) for slot in range(1, 4)] == [[1], [2], [3]]
    assert slots(table, 0) == [199, 198, 197, 196, 195]


def test_many_keys_of_one_bucket_can_be_added_at_once() -> None:
    table = Table(1)
    table.add(words(*(n << 20 for n in range(6)), 0), 1)
    assert [slots(table, n << 20) for n in range(6)] == [[1]] * 6
    assert len(table) == 6


@pytest.mark.long
@settings(deadline=None)
@given(st.integers(0, 999), st.integers(1, 400))
def test_it_holds_what_was_added_and_not_removed_however_large_it_has_grown(seed: int, count: int) -> None:
    rng = random.Random(seed)
    table = Table(64 * count)
    known: dict[int, list[int]] = {}
    for slot in range(1, count + 1):
        known[slot] = rng.sample(range(TOP), 64)
        table.add(words(*known[slot]), slot)
        if rng.random() < 0.3:
            gone = rng.choice(list(known))
            table.remove(words(*known.pop(gone)), gone)
    everything = words(*(key for keys in known.values() for key in keys))
    owners = [slot for slot, keys in known.items() for _ in keys]
    where, found = table.find(everything)
    assert all(owners[place] == slot for place, slot in zip(where.tolist(), found.tolist(), strict=True))
    assert len(where) == len(table)
    assert len(where) >= 0.95 * len(everything)  # the rest was displaced before its time


def test_memory_is_bounded_by_how_many_keys_there_can_be() -> None:
    table, rng = Table(6400), random.Random(1)
    held: list[Any] = []
    for slot in range(1, 2000):
        if len(held) == 100:
            table.remove(held.pop(0), slot - 100)
        held.append(words(*rng.sample(range(TOP), 64)))
        table.add(held[-1], slot)
    assert len(table) <= 6400
    assert table.nbytes <= 2 * 8 * 6400 / 0.6
