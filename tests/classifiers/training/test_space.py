"""The teacher's space, narrowed: neighbours stay neighbours, and frequent words weigh little."""

from __future__ import annotations

import numpy as np

from classifiers.training import space


def cone(count: int) -> np.ndarray:
    """Vectors as e5's are: all in one direction, and different in a few others."""
    random = np.random.default_rng(1)
    few = random.normal(size=(count, 8)) @ random.normal(size=(8, 48))
    return space.unit((few + 40 * random.normal(size=48)).astype(np.float32))


def test_narrow_vectors_have_length_one_and_the_neighbours_of_the_wide() -> None:
    vectors = cone(200)
    seen = space.find(vectors, 8)
    narrow, wide = seen.narrow(vectors), seen.centred(vectors)
    np.testing.assert_allclose(np.linalg.norm(narrow, axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(narrow @ narrow.T, wide @ wide.T, atol=0.05)


def test_centring_tells_apart_what_lay_together() -> None:
    vectors = cone(200)
    assert (vectors @ vectors.T).min() > 0.8
    seen = space.find(vectors, 8).centred(vectors)
    assert (seen @ seen.T).min() < -0.3


def test_a_word_seen_often_has_a_short_vector() -> None:
    vectors = cone(100)
    counts = np.full(100, 3)
    counts[0] = 100_000
    table = space.table(space.find(vectors, 8), vectors, counts)
    lengths = np.linalg.norm(table, axis=1)
    assert lengths[0] < lengths[1:].min() / 100
    assert table.dtype == np.float32
