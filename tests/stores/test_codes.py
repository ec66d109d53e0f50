"""Codes compared in one sweep."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from gateway.stores import Near
from gateway.stores import _codes as codes_module
from gateway.stores._codes import MOST, Codes, mask


def found(codes: Codes, asked: list[int], near: Near) -> dict[int, int]:
    slots, distances = codes.near(asked, near)
    best: dict[int, int] = {}
    for slot, distance in zip(slots.tolist(), distances.tolist(), strict=True):
        best[slot] = min(distance, best.get(slot, 64))
    return best


@given(st.integers(0, 999), st.sampled_from([64, 48, 32, 1]), st.integers(0, 40))
def test_it_agrees_with_counting_one_by_one(seed: int, bits: int, radius: int) -> None:
    rng = random.Random(seed)
    codes, known, places = Codes(2), dict[int, list[int]](), dict[int, int]()
    for slot in range(1, 60):
        known[slot] = [rng.getrandbits(64), rng.getrandbits(64)]
        places[slot] = codes.add(known[slot], slot)
        if rng.random() < 0.4:
            gone = rng.choice(list(known))
            del known[gone]
            place = places.pop(gone)
            moved = codes.remove(place)
            if moved != gone:
                places[moved] = place
    asked = [rng.getrandbits(64), rng.getrandbits(64)]
    counted = mask(Near(bits))
    wanted = {
        slot: min(((a ^ b) & counted).bit_count() for a, b in zip(own, asked, strict=True))
        for slot, own in known.items()
    }
    assert len(codes) == len(known)
    assert found(codes, asked, Near(bits, radius)) == {s: d for s, d in wanted.items() if d <= radius}


def test_it_finds_at_any_place_of_many() -> None:
    codes = Codes(1)
    count = 2 * codes_module.BLOCK + 3
    for slot in range(1, count + 1):
        codes.add([slot << 32], slot)
    for slot in (1, codes_module.BLOCK, codes_module.BLOCK + 1, count):
        assert found(codes, [slot << 32], Near(64, 0)) == {slot: 0}


def test_of_too_many_that_are_near_the_later_are_taken() -> None:
    codes = Codes(1)
    for slot in range(1, MOST + 101):
        codes.add([7], slot)
    assert sorted(found(codes, [7], Near())) == [*range(101, MOST + 101)]


def test_room_is_given_back() -> None:
    codes = Codes(1)
    for slot in range(1000):
        codes.add([slot], slot)
    most = codes.nbytes
    for _ in range(995):
        codes.remove(0)
    assert codes.nbytes < most / 50
    assert len(codes) == 5
