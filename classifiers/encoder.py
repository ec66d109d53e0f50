"""The encoder: a text as 128 numbers, or as 64 bits. Texts that ask the same have vectors of a high cosine, and codes
that differ in few bits.

The code is good for finding and poor for deciding: whoever serves an answer because two codes are near must compare the
vectors too, and the numbers, names and negations in the texts.

onnxruntime and tokenizers are known here alone. One thread, no spinning: beside a server that shares its cores, a call
of half a millisecond must not wake the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from classifiers import manifest
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
        try:
            self._session = onnxruntime.InferenceSession(
                model.read(network), _options(), providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # the library's own kinds are no kinds of these
            raise model.fault(network, error) from error
        try:
            self._tokenizer: Tokenizer = Tokenizer.from_str(model.text(tokenizer))
        except Exception as error:  # the library knows no narrower kind
            raise model.fault(tokenizer, error) from error

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


def _options() -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    return options
