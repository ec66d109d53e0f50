"""Which slots share a key: a set-associative table, so that memory and time are bounded whatever the keys are.

A bucket has eight ways, the newest first, and is one cache line; a way holds 40 bits of a key and 24 of a slot, 0 if it
is free. A full bucket loses its oldest way: one of the same key if that has half of them, so that what everybody
shares does not crowd out the rest.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Words: TypeAlias = NDArray[np.uint64]
Places: TypeAlias = NDArray[np.intp]

SLOTS = (1 << 24) - 1  # slots are numbered from 1
WAYS = 8
_HALF = WAYS // 2
_LEAST = 1024  # buckets
_FULL = 0.6  # of all ways in use, from which on there will be twice as many: three keys in a hundred are lost at most
_STEP = 256  # buckets more at a time
_SHIFT = np.uint64(24)
_SLOT = np.uint64(SLOTS)
_ONE = np.uint64(1)
_AT = np.arange(WAYS)


class Table:
    """Keys are numbers below 2**40, of which any bit is as good as any other. There are at most `most` at a time.

    It grows in small steps, so no call ever waits for all of it to move (after linear hashing: Litwin 1980).
    """

    def __init__(self, most: int) -> None:
        room = _LEAST
        while _FULL * WAYS * room < most:
            room *= 2
        self._buckets = np.zeros((room, WAYS), np.uint64)  # memory that nobody has written to yet takes no room
        self._count = self._low = _LEAST  # buckets in use, and the power of two below
        self._used = 0

    def __len__(self) -> int:
        """How many ways are in use."""
        return self._used

    @property
    def nbytes(self) -> int:
        return self._count * WAYS * self._buckets.itemsize

    def find(self, keys: Words) -> tuple[Places, Places]:
        """All pairs of a key and a slot: the key's place in `keys`, in their order, and the slots, the newest first."""
        slots = self._buckets[self._at(keys)] ^ (keys << _SHIFT)[:, None]  # of a way with another key, a huge number
        where, which = np.nonzero(slots - _ONE < _SLOT)  # 0 is a free way, and becomes one too
        return where, slots[where, which].astype(np.intp)

    def add(self, keys: Words, slot: int) -> None:
        """Each of these keys leads to this slot, too."""
        left = np.unique(keys)
        if self._count > self._low or self._used + len(left) > _FULL * WAYS * self._count:
            self._grow()
        while len(left):  # two keys of one bucket can't be added at once
            buckets, first = np.unique(self._at(left), return_index=True)
            self._put(buckets, left[first] << _SHIFT | np.uint64(slot))
            left = np.delete(left, first)

    def remove(self, keys: Words, slot: int) -> None:
        """These keys lead to this slot no longer."""
        buckets = self._at(keys)
        where, which = np.nonzero(self._buckets[buckets] == (keys << _SHIFT | np.uint64(slot))[:, None])
        self._used -= len(np.unique(buckets[where] * WAYS + which))
        self._buckets[buckets[where], which] = 0

    def _at(self, keys: Words) -> Places:
        wide = keys & np.uint64(2 * self._low - 1)
        return np.where(wide < np.uint64(self._count), wide, keys & np.uint64(self._low - 1)).astype(np.intp)

    def _put(self, buckets: Places, words: Words) -> None:
        """One word into each of these buckets, in front; what stands before the way that gives place moves back."""
        ways = self._buckets[buckets]
        free = ways == 0
        own = ways >> _SHIFT == (words >> _SHIFT)[:, None]
        oldest = WAYS - 1 - np.argmax(own[:, ::-1], axis=1)
        oldest = np.where(own.sum(axis=1) >= _HALF, oldest, WAYS - 1)
        any_free = free.any(axis=1)
        gives = np.where(any_free, np.argmax(free, axis=1), oldest)
        moved = np.empty_like(ways)
        moved[:, 0], moved[:, 1:] = words, ways[:, :-1]
        self._buckets[buckets] = np.where(gives[:, None] >= _AT, moved, ways)
        self._used += int(any_free.sum())

    def _grow(self) -> None:
        """A step towards twice the buckets: what stands in one stays, or goes to its twin, as one more bit says."""
        start = self._count - self._low
        ways = self._buckets[start : min(start + _STEP, self._low)]
        goes = ways & (np.uint64(self._low) << _SHIFT) != 0
        self._buckets[self._count : self._count + len(ways)] = np.where(goes, ways, np.uint64(0))
        ways[goes] = 0
        self._count += len(ways)
        if self._count == 2 * self._low:
            self._low = self._count
