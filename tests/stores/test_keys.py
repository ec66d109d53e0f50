"""Which hashes are looked up, and captures as bytes."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.stores import Kept, Sketch
from gateway.stores._keys import ENDS, MOST, looked_up, pack, unpack
from tests.stores.sketches import WHOSE, kept, sketch


def of(hashes: list[int]) -> Sketch:
    raw = np.array(hashes, "<u8").tobytes()
    return Sketch(WHOSE, raw, raw, tuple(range(len(hashes))))


def drawn(count: int, seed: int) -> list[int]:
    rng = random.Random(seed)
    return [rng.getrandbits(64) for _ in range(count)]


@pytest.mark.parametrize("count", [0, 1, MOST - 1, MOST])
def test_few_hashes_are_all_looked_up(count: int) -> None:
    hashes = drawn(count, count)
    looked = looked_up(of(hashes))
    assert looked.prefix.tolist() == looked.chunks.tolist() == hashes
    assert list(looked.sizes) == list(range(count))


@given(st.integers(MOST + 1, 3000), st.integers(0, 99))
def test_of_many_at_most_so_many_in_their_order_and_the_ends_among_them(count: int, seed: int) -> None:
    hashes = drawn(count, seed)
    looked = looked_up(of(hashes))
    assert 0 < len(looked.chunks) <= MOST
    assert 2 * ENDS <= len(looked.prefix) <= MOST
    assert [hashes[place] for place in looked.sizes] == looked.chunks.tolist()
    assert [one for one in hashes if one in set(looked.prefix.tolist())] == looked.prefix.tolist()
    assert looked.prefix[:ENDS].tolist() == hashes[:ENDS]
    assert looked.prefix[-ENDS:].tolist() == hashes[-ENDS:]


@given(st.integers(1, 500), st.integers(0, 3000), st.integers(0, 99))
def test_what_a_longer_one_looks_up_of_a_passage_a_shorter_one_does_too(short: int, more: int, seed: int) -> None:
    passage, around = drawn(short, seed), drawn(more, seed + 1000)
    alone = looked_up(of(passage)).chunks.tolist()
    within = looked_up(of(around[: more // 2] + passage + around[more // 2 :])).chunks.tolist()
    assert set(within) & set(passage) <= set(alone)


def test_text_that_repeats_itself_leaves_room_for_the_rest() -> None:
    rest = drawn(20, 1)
    looked = looked_up(of([1 << 40] * 500 + rest))
    assert sorted(looked.chunks.tolist()) == sorted([1 << 40, *rest])


def test_hashes_that_all_end_alike_are_within_bounds_too() -> None:
    assert len(looked_up(of([0] * 100)).chunks) == 1
    looked = looked_up(of([n << 32 | 1 for n in range(100)]))  # none ends in a zero: none is better than another
    assert len(looked.chunks) == 0
    assert len(looked.prefix) == 2 * ENDS


texts = st.text(st.characters(), max_size=8)
anything = st.builds(
    Kept,
    *(texts, texts, texts, texts, st.floats(allow_nan=False)),
    st.builds(
        lambda whose, hashes, sizes, codes: Sketch(whose, hashes, hashes[8:], sizes, codes),
        st.binary(max_size=40),
        st.integers(0, 20).map(lambda n: random.Random(n).randbytes(8 * n)),
        st.lists(st.integers(0, 2**32 - 1), max_size=5).map(tuple),
        st.lists(st.integers(0, 2**64 - 1), max_size=3).map(tuple),
    ),
)


@given(anything)
def test_what_is_packed_is_unpacked(one: Kept) -> None:
    assert unpack(pack(one)) == one


def test_a_packed_capture_is_small() -> None:
    one = kept("0123456789abcdef", sketch(range(24), codes=(1, 2)))
    assert len(pack(one)) < 700


@given(st.binary(max_size=200))
def test_garbage_is_refused(raw: bytes) -> None:
    with pytest.raises(ValueError, match="capture"):
        unpack(raw)


@given(st.data())
def test_a_damaged_capture_is_refused_or_another_one(data: st.DataObject) -> None:
    packed = bytearray(pack(kept("a", sketch(range(3), codes=(1,)))))
    for _ in range(data.draw(st.integers(1, 4))):
        packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, 3))
    raw = bytes(packed[: len(packed) - cut])
    try:
        other = unpack(raw)
    except ValueError:
        return
    assert isinstance(other, Kept)
