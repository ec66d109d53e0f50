"""The encoder: a text as 128 numbers, or as 64 bits. Texts that ask the same have vectors of a high cosine, and codes
that differ in few bits.

The code is good for finding and poor for deciding: whoever serves an answer because two codes are near must compare the
vectors too, and the numbers, names and negations in the texts.

"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from classifiers import manifest, session
from classifiers.text import clean

WIDTH: Final = 128
MOST: Final = 1024  # characters of a text that are looked at; its first 64 tokens are what counts
FILES: Final = ("encoder.onnx", "tokenizer.json")
CONTEXT: Final = manifest.MODELS / "context"


class Encoder:
    """Loaded and verified once; any number of threads may ask it at the same time."""

    def __init__(self, folder: Path = CONTEXT) -> None:
        model = manifest.load(folder)
        network, tokenizer = FILES
        self._session = session.network(model, network)
        self._tokenizer = session.tokenizer(model, tokenizer)

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of length 1 for each text. A text without a word has one too, and it means nothing."""
        return self.both(texts)[0]

    def code(self, text: str) -> int:
        """64 bits, the first the highest."""
        return self.both([text])[1][0]

    def both(self, texts: Sequence[str]) -> tuple[NDArray[np.float32], list[int]]:
        """Vectors and codes for the price of one."""
        if not texts:
            return np.empty((0, WIDTH), np.float32), []
        cut = self._tokenizer.encode_batch_fast([clean(text[:MOST]) for text in texts], add_special_tokens=False)
        ids = np.zeros((len(cut), max(1, *(len(one.ids) for one in cut))), np.int64)
        ids[:, 0] = 1  # a text of no token at all: one unknown
        for row, one in zip(ids, cut, strict=True):
            row[: len(one.ids)] = one.ids
        vectors, signs = self._session.run(None, {"ids": ids})
        return vectors, pack(signs)


def pack(signs: NDArray[np.float32]) -> list[int]:
    """A number of 64 bits for each row of 64 numbers: a bit is set where the number is above zero."""
    return [int(code) for code in np.packbits(signs > 0, axis=1).view(">u8")[:, 0]]
