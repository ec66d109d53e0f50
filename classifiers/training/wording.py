"""Learns the weights of runs of words: logistic regression over their mean, by plain small steps that grow smaller.

The mean, rather than a sum, keeps long answers from being surer than short ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from classifiers.phrases import PLACES, places
from classifiers.reading import Asked, language

ROUNDS = 12
BATCH = 16
RATES: Final = {"zh": 25.0, "en": 150.0}  # high, since each run of words has only its share of a mean


def learn(asked: Sequence[Asked], wrong: Sequence[bool], random: np.random.Generator) -> NDArray[np.float16]:
    """A weight for each place, in half precision, which is more than enough."""
    weights = np.zeros(PLACES, np.float32)
    for name, rate in RATES.items():
        of = [number for number, one in enumerate(asked) if language(one.question + one.answer) == name]
        _rounds(weights, [places(asked[number]) for number in of], np.array(wrong, np.float64)[of], rate, random)
    return weights.astype(np.float16)


def _rounds(
    weights: NDArray[np.float32],
    rows: Sequence[NDArray[np.int64]],
    truth: NDArray[np.float64],
    rate: float,
    random: np.random.Generator,
) -> None:
    steps = ROUNDS * (len(rows) // BATCH)
    done = 0
    for _ in range(ROUNDS):
        order = random.permutation(len(rows))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            chosen = order[start : start + BATCH]
            _step(weights, [rows[place] for place in chosen], truth[chosen], rate * (1 - done / steps))
            done += 1


def _step(
    weights: NDArray[np.float32], rows: Sequence[NDArray[np.int64]], truth: NDArray[np.float64], rate: float
) -> None:
    lengths = np.array([len(row) for row in rows])
    together = np.concatenate(rows)
    starts = np.r_[0, np.cumsum(lengths)[:-1]]
    means = np.add.reduceat(weights[together], starts) / lengths
    far = 0.5 + 0.5 * np.tanh(means / 2) - truth
    np.subtract.at(weights, together, np.repeat(rate * far / lengths, lengths).astype(np.float32))
