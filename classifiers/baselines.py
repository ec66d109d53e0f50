"""What a classifier must be better than to claim more than style: the answer's length, words of doubt, n-grams.

Two are trained where models are judged, on the same answers as the network, in some seconds; the others need no
training. Each is a function from what is judged to a number, higher where the answer is likelier wrong.
"""

from __future__ import annotations

import math
import tempfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from classifiers.reading import NEARNESS, Asked, doubts, read, words

Baseline = Callable[[Asked], float]

PLACES: Final = 1 << 18  # of n-grams
LONGEST: Final = 4  # characters of an n-gram
CHARACTERS: Final = 600  # of a text that are cut into n-grams
ROUNDS: Final = 6
BATCH: Final = 64
RATE: Final = 0.5
DIMENSIONS: Final = 32
SEED: Final = 7


def length(asked: Asked) -> float:
    """How long the answer is."""
    return float(len(asked.answer))


def hedges(asked: Asked) -> float:
    """How many words of doubt there are in it."""
    return float(doubts(asked.answer))


def nearness(asked: Asked) -> float:
    """How far the answer stands in the context from where most of the question's words are."""
    return -float(read(asked).features[NEARNESS])


def linear(asked: Sequence[Asked], wrong: Sequence[bool]) -> Baseline:
    """Logistic regression over hashed runs of 1 to 4 characters of question and answer, learnt from these."""
    random = np.random.default_rng(SEED)
    rows = [grams(one) for one in asked]
    weights = np.zeros(PLACES, np.float32)
    squares = np.full(PLACES, 1e-3, np.float32)
    for _ in range(ROUNDS):
        order = random.permutation(len(rows))
        for start in range(0, len(order), BATCH):
            _step(weights, squares, [(rows[place], wrong[place]) for place in order[start : start + BATCH]])
    return lambda one: _linear(weights, grams(one))


def _linear(weights: NDArray[np.float32], places: NDArray[np.int64]) -> float:
    return float(weights[places].sum()) / math.sqrt(max(1, len(places)))


def _step(
    weights: NDArray[np.float32], squares: NDArray[np.float32], batch: list[tuple[NDArray[np.int64], bool]]
) -> None:
    far = [1 / (1 + np.exp(-_linear(weights, row))) - wrong for row, wrong in batch]
    share = [np.full(len(row), one / math.sqrt(max(1, len(row)))) for one, (row, _) in zip(far, batch, strict=True)]
    places, at = np.unique(np.concatenate([row for row, _ in batch]), return_inverse=True)
    slope = (np.bincount(at, np.concatenate(share), len(places)) / len(batch)).astype(np.float32)
    squares[places] += slope * slope
    weights[places] -= RATE * slope / np.sqrt(squares[places]) * 0.1


def grams(asked: Asked) -> NDArray[np.int64]:
    """Places of the n-grams of question and answer, each once."""
    found = {zlib.crc32(one.encode()) % PLACES for one in _grams("q", asked.question)}
    found.update(zlib.crc32(one.encode()) % PLACES for one in _grams("a", asked.answer))
    return np.fromiter(found, np.int64, len(found))


def _grams(mark: str, text: str) -> Iterator[str]:
    text = text[:CHARACTERS].lower()
    for size in range(1, LONGEST + 1):
        for start in range(len(text) - size + 1):
            yield mark + text[start : start + size]


def fasttext(asked: Sequence[Asked], wrong: Sequence[bool]) -> Baseline:
    """fastText over words and runs of up to three words."""
    import fasttext  # only where models are judged

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lines.txt"
        lines = (f"__label__{int(so)} {_line(one)}\n" for one, so in zip(asked, wrong, strict=True))
        path.write_text("".join(lines), encoding="utf-8")
        model: Any = fasttext.train_supervised(
            str(path), dim=DIMENSIONS, wordNgrams=3, epoch=12, lr=0.4, bucket=PLACES, thread=1, seed=SEED, verbose=0
        )

    def judge(one: Asked) -> float:
        labels, shares = model.predict(_line(one), k=2)
        return float(dict(zip(labels, shares, strict=True)).get("__label__1", 0.0))

    return judge


def _line(asked: Asked) -> str:
    return " ".join(["q", *words(asked.question[:CHARACTERS]), "a", *words(asked.answer[:CHARACTERS])])
