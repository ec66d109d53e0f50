"""A text cut where its content says so, so that equal passages have equal pieces wherever they stand.

A rolling hash over the last 32 bytes decides (gear hash: Xia et al. 2016, FastCDC), computed for all places at once.
Text that was moved, or changed before or after a passage, is cut alike again a few bytes into the passage.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

LEAST = 64  # bytes of a piece; a shorter one is not worth a name of its own
MOST = 8  # times the usual size; text without any place to cut is cut there
USUAL = 8  # bits of the hash that must be zero: a piece has about 2**8 bytes beyond the least
_WINDOW = (1, 2, 4, 8, 16)  # doubled so often, the window holds 32 bytes

# One random number for each byte; the seed makes it the same in every process that shares a store.
GEAR: Final[NDArray[np.uint32]] = np.random.default_rng(20161222).integers(0, 1 << 32, 256, dtype=np.uint32)


def cuts(text: bytes, bits: int = USUAL) -> list[int]:
    """Where the pieces of a text end, the last one at its end; none for an empty text. Time grows with its size."""
    size = len(text)
    if size <= LEAST:
        return [size] if size else []
    rolling = GEAR[np.frombuffer(text, np.uint8)]
    for shift in _WINDOW:
        rolling[shift:] += rolling[:-shift] << np.uint32(shift)
    places = np.flatnonzero(rolling >> np.uint32(32 - bits) == 0) + 1
    return _spaced(places.tolist(), size, MOST << bits)


def _spaced(places: list[int], size: int, most: int) -> list[int]:
    """Of the places where the content says so, those far enough apart; and some more where there is none for long."""
    ends: list[int] = []
    last = 0
    for place in (*places, size):
        if place - last < LEAST and place != size:
            continue
        while place - last > most:
            last += most
            ends.append(last)
        if place > last:
            ends.append(place)
            last = place
    return ends
