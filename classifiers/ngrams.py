"""The n-grams of a text as 64 bits, and the domain it belongs to: the first and cheapest layer of the context hash.

The code is a simhash: each n-gram votes for its own 64 signs, with a weight that was learnt from pairs of texts. Texts
that share their telling words have codes that differ in few bits; that two wordings mean the same it can't know.

fastText tells the domain; it is known here alone. The package is `fasttext-community`: the original `fasttext` 0.9.3
fails on numpy 2 in `predict`. It dies on a damaged file instead of refusing it, so no file reaches it unverified.
"""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any, Final

import fasttext
import numpy as np
from numpy.typing import NDArray

from classifiers import manifest
from classifiers.manifest import ModelFault
from classifiers.text import VOCABULARY, fingerprint, grams, words

BITS: Final = 64
FILES: Final = ("ngrams.ftz", "weights.npy")
CONTEXT: Final = manifest.MODELS / "context"
LABEL: Final = "__label__"
UNSURE: Final = ("general", 0.0)  # of a text without a word


class Ngrams:
    """Loaded and verified once; any number of threads may ask it at the same time."""

    def __init__(self, folder: Path = CONTEXT) -> None:
        model = manifest.load(folder)
        domains, weights = FILES
        if model.manifest.trained_on.get("ids_sha256") != fingerprint():
            raise ModelFault(folder / weights, "was learnt with other word lists or other ids than text.py gives now")
        try:
            self._simhash = Simhash(np.load(io.BytesIO(model.read(weights)), allow_pickle=False))
        except (ValueError, EOFError) as error:
            raise model.fault(weights, error) from error
        model.read(domains)
        try:
            self._domains = fasttext.load_model(str(folder / domains))
        except ValueError as error:
            raise model.fault(domains, error) from error

    def code(self, text: str, window: int = 3) -> int:
        """64 bits, the first the highest, from the runs of up to `window` words. 0 for a text without a word."""
        return self._simhash.code(grams(text, window))

    def domain(self, text: str) -> tuple[str, float]:
        """One of the domains of the word lists, and how sure that is, from 0 to 1."""
        line = " ".join(words(text))
        if not line:
            return UNSURE
        labels, chances = self._domains.predict(line, k=1)
        return labels[0].removeprefix(LABEL), min(1.0, float(chances[0]))


class Simhash:
    """Each id votes for its own 64 signs, with its own weight. ValueError if there is not one weight for each id."""

    def __init__(self, weights: NDArray[np.floating[Any]]) -> None:
        if weights.shape != (VOCABULARY,):
            raise ValueError(f"{VOCABULARY} weights expected, not {weights.shape}")
        self._weights = weights.astype(np.float32)
        # The same on every machine and for ever, which no library's random numbers are.
        drawn = hashlib.shake_256(b"the planes of the n-grams").digest(VOCABULARY * BITS // 8)
        self._planes = np.frombuffer(drawn, np.uint8).reshape(VOCABULARY, BITS // 8)

    def code(self, ids: NDArray[np.int32]) -> int:
        """The bits for which more was voted than against. 0 without an id."""
        sides = np.unpackbits(self._planes[ids], axis=1)
        weights = self._weights[ids]
        return int.from_bytes(np.packbits(2 * (weights @ sides) > weights.sum()).tobytes(), "big")
