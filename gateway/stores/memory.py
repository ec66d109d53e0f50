"""`type: memory`: what this process alone knows of captures. Bounded in number and bytes, and no finding is slow."""

from __future__ import annotations

import heapq
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Literal

import numpy as np
from pydantic import Field

from gateway.stores import NEAR, Kept, Near, Observe, Sketch, Store, StoreSpec
from gateway.stores._codes import Codes
from gateway.stores._keys import MOST, Looked, Words, looked_up, pack, unpack
from gateway.stores._ring import Ring
from gateway.stores._table import SLOTS, Table

CROWD = 8  # captures found in each of the three ways

_ODD = np.uint64(0x9E3779B97F4A7C15)
_TOP = np.uint64(24)


class Plug(StoreSpec):
    """In the memory of this process: gone when it ends, and unknown to others."""

    type: Literal["memory"] = "memory"
    most: int = Field(default=100_000, ge=1, le=SLOTS, description="Captures remembered, over all tenants.")
    bytes: int = Field(
        default=256 << 20, ge=1 << 16, description="What they take at most, less their index: that takes about as much."
    )

    def connect(self, observe: Observe) -> Store:
        return Memory(self.most, self.bytes)


class _Partition:
    """What belongs together: the captures of one `whose`."""

    __slots__ = ("_chunks", "_prefix", "codes", "count", "number")

    def __init__(self, whose: bytes, number: int) -> None:
        seeds = np.frombuffer(blake2b(whose, digest_size=16).digest(), "<u8")
        self._prefix, self._chunks = seeds[0], seeds[1]
        self.number = number
        self.count = 0
        self.codes: dict[int, Codes] = {}  # by how many kinds there are

    def keys(self, looked: Looked) -> Words:
        """Those of the prefix, the longest first, then those of the chunks; other than any other partition's."""
        words = np.concatenate((looked.prefix[::-1] ^ self._prefix, looked.chunks ^ self._chunks))
        keys: Words = words * _ODD >> _TOP
        return keys


class Memory:
    """Each capture has a slot; who was used least gives his to the next. `now` tells seconds of the epoch."""

    up = True

    def __init__(self, most: int, size: int, now: Callable[[], float] = time.time) -> None:
        self._most, self._size, self._now = most, size, now
        self._slots: dict[int, int] = {}  # by the hash of what names a capture
        self._partitions: dict[bytes, _Partition] = {}
        self._table, self._ring = Table(2 * MOST * most), Ring()
        self._free: list[int] = []
        self._born = self._held = 0  # captures ever added, bytes
        self._packed = [b""]
        self._until = np.zeros(most + 1)
        self._added = np.zeros(most + 1, np.int64)
        self._owner = np.zeros(most + 1, np.int64)
        self._place = np.zeros(most + 1, np.int32)

    def __len__(self) -> int:
        return len(self._slots)

    async def start(self) -> None:
        """Nothing to open."""

    async def stop(self) -> None:
        """Nothing to close."""

    async def find(self, sketch: Sketch, near: Near = NEAR) -> Sequence[Kept]:
        partition = self._partitions.get(sketch.whose)
        if partition is None:
            return ()
        looked = looked_up(sketch)
        where, slots = self._table.find(partition.keys(looked))
        ours = self._owner[slots] == partition.number
        living = ours & (self._until[slots] > self._now())
        if not living.all():
            self._bury(slots[ours & ~living].tolist())
            where, slots = where[living], slots[living]
        places, found = where.tolist(), slots.tolist()
        chunks = bisect_left(places, len(looked.prefix))
        chosen = dict.fromkeys(islice(dict.fromkeys(found[:chunks]), CROWD))
        sizes = (looked.sizes[place - len(looked.prefix)] for place in places[chunks:])
        chosen |= dict.fromkeys(self._sharing_most(found[chunks:], sizes))
        if sketch.codes:
            chosen |= dict.fromkeys(self._nearest(partition, sketch.codes, near))
        return [unpack(self._packed[slot]) for slot in chosen]

    def _sharing_most(self, slots: Sequence[int], sizes: Iterator[int]) -> Sequence[int]:
        """Those that share the most bytes, and of equal ones the newest."""
        shared: dict[int, int] = {}
        for slot, size in zip(slots, sizes, strict=True):
            shared[slot] = shared.get(slot, 0) + size
        return heapq.nlargest(CROWD, shared, key=lambda slot: (shared[slot], self._added[slot]))

    def _nearest(self, partition: _Partition, codes: Sequence[int], near: Near) -> Sequence[int]:
        known = partition.codes.get(len(codes))
        if known is None:
            return ()
        slots, distances = known.near(codes, near)
        living = self._until[slots] > self._now()
        if not living.all():
            self._bury(slots[~living].tolist())
            slots, distances = slots[living], distances[living]
        nearest = slots[np.lexsort((-self._added[slots], distances))[: len(codes) * CROWD]].tolist()
        return list(dict.fromkeys(nearest))[:CROWD]

    def add(self, kept: Kept) -> None:
        packed = pack(kept)
        if len(packed) > self._size or kept.until <= self._now():
            return
        self.forget(kept)
        while len(self._slots) >= self._most or self._held + len(packed) > self._size:
            self._drop(self._ring.first)
        slot = self._slot(packed)
        self._slots[_name(kept)] = slot
        self._held += len(packed)
        self._born += 1
        sketch = kept.sketch
        partition = self._partitions.get(sketch.whose)
        if partition is None:
            partition = self._partitions[sketch.whose] = _Partition(sketch.whose, self._born)
        partition.count += 1
        self._until[slot], self._added[slot], self._owner[slot] = kept.until, self._born, partition.number
        self._table.add(partition.keys(looked_up(sketch)), slot)
        if sketch.codes:
            kinds = len(sketch.codes)
            codes = partition.codes.get(kinds) or partition.codes.setdefault(kinds, Codes(kinds))
            self._place[slot] = codes.add(sketch.codes, slot)

    def _slot(self, packed: bytes) -> int:
        if self._free:
            slot = self._free.pop()
            self._ring.append(slot)
            self._packed[slot] = packed
            return slot
        self._packed.append(packed)
        return self._ring.new()

    def used(self, kept: Kept) -> None:
        slot = self._slots.get(_name(kept))
        if slot is not None:
            self._ring.remove(slot)
            self._ring.append(slot)

    def forget(self, kept: Kept) -> None:
        slot = self._slots.get(_name(kept))
        if slot is not None:
            self._drop(slot)

    def _bury(self, slots: Sequence[int]) -> None:
        """They have ended. A few at a time: no request pays for all."""
        for slot in set(slots[:CROWD]):
            self._drop(slot)

    def _drop(self, slot: int) -> None:
        packed = self._packed[slot]
        kept = unpack(packed)
        whose, codes = kept.sketch.whose, kept.sketch.codes
        partition = self._partitions[whose]
        self._table.remove(partition.keys(looked_up(kept.sketch)), slot)
        if codes:
            place = int(self._place[slot])
            self._place[partition.codes[len(codes)].remove(place)] = place
        partition.count -= 1
        if not partition.count:
            del self._partitions[whose]
        del self._slots[_name(kept)]
        self._held -= len(packed)
        self._packed[slot], self._owner[slot] = b"", 0
        self._ring.remove(slot)
        self._free.append(slot)


def _name(kept: Kept) -> int:
    return hash((kept.sketch.whose, kept.replica, kept.capture))
