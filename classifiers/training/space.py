"""The teacher's space in 128 directions: what the student is to say, and the table of words it starts from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

RARE = 1e-3  # a word of this share counts half as much as one that is never seen
LENGTH = 0.125  # of the table's numbers, on average
DRAWN = 12_000  # texts from which the directions are found


class Space(NamedTuple):
    """The mean of all texts, and the directions in which they differ most."""

    mean: Floats
    directions: Floats  # [384, 128]

    def centred(self, vectors: Floats) -> Floats:
        """Unit vectors around the mean: e5 holds all texts in a narrow cone, which hides how they differ."""
        return unit(vectors - self.mean)

    def narrow(self, vectors: Floats) -> Floats:
        """Unit vectors of 128."""
        return unit(self.centred(vectors) @ self.directions)


def find(vectors: Floats, width: int) -> Space:
    """The space of these vectors of the teacher's."""
    mean = vectors.mean(axis=0)
    drawn = unit(vectors[:: max(1, len(vectors) // DRAWN)] - mean)
    _, _, turned = np.linalg.svd(drawn, full_matrices=False)
    return Space(mean, np.ascontiguousarray(turned[:width].T))


def table(space: Space, pieces: Floats, counts: NDArray[np.int64]) -> Floats:
    """A vector for each piece: the teacher's for it alone, shorter the more often it is seen."""
    alone = unit(pieces - pieces.mean(axis=0)) @ space.directions
    share = (counts + 1) / counts.sum()
    weighted = alone * (RARE / (RARE + share))[:, None]
    return (weighted * LENGTH / weighted.std()).astype(np.float32)


def unit(vectors: Floats) -> Floats:
    """Each row with length 1."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
