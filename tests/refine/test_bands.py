"""Codes that are near are found, whichever bits differ, and no others."""

from __future__ import annotations

import random

import pytest

from gateway.refine._bands import BITS, NEAREST, Bands

OURS, THEIRS = b"ours", b"theirs"


@pytest.mark.parametrize("radius", range(8))
def test_all_within_the_radius_are_found_and_none_beyond(radius: int) -> None:
    chance = random.Random(radius)
    bands = Bands(radius)
    code = chance.getrandbits(BITS)
    bands.add(OURS, (code,), "a")
    for bits in range(radius + 3):
        for _ in range(30):
            other = code
            for bit in chance.sample(range(BITS), bits):
                other ^= 1 << bit
            assert bands.near(OURS, (other,)) == (["a"] if bits <= radius else [])


def test_one_near_code_of_several_is_enough_but_only_of_the_same_kind() -> None:
    bands = Bands(3)
    bands.add(OURS, (0, (1 << BITS) - 1), "a")
    assert bands.near(OURS, (7, 0)) == ["a"]
    assert bands.near(OURS, ((1 << BITS) - 1, 0)) == []
    assert bands.near(OURS, ()) == []


def test_the_nearest_come_first_and_of_equal_ones_the_newest() -> None:
    bands = Bands(3)
    for name, code in (("two", 3), ("old", 1), ("new", 2), ("none", 0)):
        bands.add(OURS, (code,), name)
    assert bands.near(OURS, (0,)) == ["none", "new", "old", "two"]
    for n in range(100):
        bands.add(OURS, (0,), f"x-{n}")
    assert bands.near(OURS, (0,)) == [f"x-{n}" for n in range(99, 99 - NEAREST, -1)]


def test_nothing_is_found_of_others() -> None:
    bands = Bands(3)
    bands.add(OURS, (5,), "a")
    assert bands.near(THEIRS, (5,)) == []
    assert (bands.known(OURS), bands.known(THEIRS)) == (True, False)


def test_what_is_gone_leaves_nothing_behind() -> None:
    bands = Bands(2)
    for n in range(50):
        bands.add(OURS, (n, n << 30), str(n))
    for n in range(50):
        bands.remove(OURS, (n, n << 30), str(n))
    assert not bands.known(OURS)
    assert bands._bands == {}
