"""How an answer is worded: a number for the runs of words in it and in its question, the mean of what each has learnt.

It reads nothing, and it knows in a hundredth of the time much of what the network knows without a context: which turns
of phrase stood in answers that people found wrong. Both together are better than either.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from classifiers.reading import Asked, words

PLACES: Final = 1 << 18
CHARACTERS: Final = 600  # of a text that are looked at
OF_QUESTION: Final = 2  # words of a run
OF_ANSWER: Final = 3
EDGE: Final = ("^", "$")  # how an answer begins and ends tells a lot


def places(asked: Asked) -> NDArray[np.int64]:
    """Where the weights of its runs of words are, as often as they stand in it."""
    question = words(asked.question[:CHARACTERS])
    answer = [EDGE[0], *words(asked.answer[:CHARACTERS]), EDGE[1]]
    found = [*_runs("q", question, OF_QUESTION), *_runs("a", answer, OF_ANSWER)]
    return np.array([zlib.crc32(one.encode()) % PLACES for one in found], np.int64)


def _runs(mark: str, cut: Sequence[str], longest: int) -> Iterator[str]:
    for size in range(1, longest + 1):
        for start in range(len(cut) - size + 1):
            yield mark + " ".join(cut[start : start + size])


class Phrases:
    """Weights, one for each place. ValueError if there are more or fewer."""

    def __init__(self, weights: NDArray[np.floating[Any]]) -> None:
        if weights.shape != (PLACES,):
            raise ValueError(f"{PLACES} weights expected, not {weights.shape}")
        self._weights = weights.astype(np.float32)

    def number(self, asked: Asked) -> float:
        """Above zero where it is worded like what was wrong."""
        return float(self._weights[places(asked)].mean())
