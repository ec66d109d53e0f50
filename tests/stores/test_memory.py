"""What only the store in memory has to keep to."""

from __future__ import annotations

import random

import pytest
from pydantic import ValidationError

from gateway.plug import plugs
from gateway.stores import Kept
from gateway.stores.memory import Memory, Plug
from tests.stores.sketches import kept, names, sketch


def nobody(_kind: str) -> None:
    raise AssertionError("there is nothing that could fail")


def test_yaml_names_it() -> None:
    assert plugs("stores")["memory"] is Plug
    store = Plug(most=3, bytes=1 << 20).connect(nobody)
    assert store.up
    for wrong in ({"most": 0}, {"most": 1 << 24}, {"bytes": 10}, {"url": "redis://localhost"}):
        with pytest.raises(ValidationError):
            Plug.model_validate(wrong)


async def test_what_yaml_says_is_the_bound() -> None:
    store = Plug(most=3).connect(nobody)
    await store.start()
    for n in range(10):
        store.add(kept(n, sketch([n])))
    assert [n for n in range(10) if await store.find(sketch([n]))] == [7, 8, 9]
    await store.stop()


async def test_nothing_is_left_of_those_that_are_gone() -> None:
    store = Memory(50, 1 << 20)
    rng = random.Random(3)
    living: dict[str, Kept] = {}
    for n in range(2000):
        whose = bytes([rng.randrange(40)]) * 16
        one = kept(n, sketch(rng.choices(range(30), k=rng.randrange(9)), whose=whose, codes=(rng.getrandbits(64),)))
        store.add(one)
        living[one.capture] = one
        if rng.random() < 0.3:
            store.forget(living.pop(rng.choice(list(living))))
    assert len(store) == 50
    assert store._held < 50 * 400
    assert sum(len(codes) for part in store._partitions.values() for codes in part.codes.values()) == 50
    for one in living.values():
        store.forget(one)
    assert (len(store), len(store._table), store._held, store._partitions, store._ring.first) == (0, 0, 0, {}, 0)
    assert len(store._packed) == 51


async def test_who_is_nearest_comes_first_and_of_equal_ones_the_newest() -> None:
    store = Memory(100, 1 << 20)
    for n, code in enumerate((0b111, 0b1, 0b11, 0b10)):
        store.add(kept(n, sketch([n], codes=(code,))))
    assert names(await store.find(sketch([9], codes=(0,)))) == ["3", "1", "2", "0"]
