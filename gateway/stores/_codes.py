"""The similarity codes of one partition, side by side, so that all are compared in one sweep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gateway.stores import Near

Places: TypeAlias = NDArray[np.intp]

BITS = 64
LEAST = 4  # places
BLOCK = 1 << 15  # codes compared at once: what is in between stays in the processor's cache
MOST = 4096  # that are near, to choose from; if there are more, the later half or so


def mask(near: Near) -> int:
    """The bits of a code that count: its lowest ones."""
    return (1 << min(near.bits, BITS)) - 1


class Codes:
    """So many kinds of code a slot. What is removed gives its place to the last."""

    __slots__ = ("_codes", "_count", "_slots")

    def __init__(self, kinds: int) -> None:
        self._codes = np.empty((kinds, LEAST), np.uint64)
        self._slots = np.empty(LEAST, np.intp)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        return self._codes.nbytes + self._slots.nbytes

    def add(self, codes: Sequence[int], slot: int) -> int:
        """The place where they are now."""
        if self._count == len(self._slots):
            self._codes = np.concatenate((self._codes, np.empty_like(self._codes)), axis=1)
            self._slots = np.concatenate((self._slots, np.empty_like(self._slots)))
        place = self._count
        self._codes[:, place] = codes
        self._slots[place] = slot
        self._count += 1
        return place

    def remove(self, place: int) -> int:
        """Take out what is there. The slot whose codes are there now; of no meaning if it was the last place."""
        self._count -= 1
        self._codes[:, place] = self._codes[:, self._count]
        self._slots[place] = moved = self._slots[self._count]
        if LEAST <= 4 * self._count < len(self._slots):
            half = len(self._slots) // 2
            self._codes, self._slots = self._codes[:, :half].copy(), self._slots[:half].copy()
        return int(moved)

    def near(self, codes: Sequence[int], near: Near) -> tuple[Places, NDArray[np.uint8]]:
        """The slots that have a code within the radius, and in how many bits it differs; twice if two codes have."""
        slots, distances = [], []
        differ, bits = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint8)
        counted = np.uint64(mask(near))
        for known, code in zip(self._codes, codes, strict=True):
            asked = np.uint64(code)
            for start in range(0, self._count, BLOCK):
                block = known[start : min(start + BLOCK, self._count)]
                size = len(block)
                np.bitwise_xor(block, asked, out=differ[:size])
                if near.bits < BITS:
                    differ &= counted
                np.bitwise_count(differ[:size], out=bits[:size])
                (hits,) = np.nonzero(bits[:size] <= near.radius)
                if len(hits):
                    slots.append(self._slots[start:][hits])
                    distances.append(bits[hits])
        if not slots:
            return np.empty(0, np.intp), np.empty(0, np.uint8)
        return np.concatenate(slots)[-MOST:], np.concatenate(distances)[-MOST:]
