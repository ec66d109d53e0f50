"""The teacher's file is read as it was laid down."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from classifiers.training.teacherfile import Header, Pieces, Weights

TEXTS = ["<s>", "退", "▁a"]
SCORES = [0.0, -1.5, -2.5]


def laid_down(plain: np.ndarray, packed: bytes) -> bytes:
    """A file of two tensors."""
    text = "".join(TEXTS).encode()
    ends = np.cumsum([0, *(len(one.encode()) for one in TEXTS)]).astype(np.uint32)
    head = b"E5S1" + struct.pack("<I7ifi", 1, 32, 1, 1, 64, 3, 8, 2, 1e-12, 32)
    head += (
        struct.pack("<5iQ", 3, 0, 0, 1, 1, len(text)) + ends.tobytes() + np.array(SCORES, np.float32).tobytes() + text
    )
    head += struct.pack("<iI", 1, 9) + b"123456789"
    names = [(b"emb.pos", plain.tobytes()), (b"emb.word", packed)]
    start = len(head) + 4 + sum(2 + len(name) + struct.calcsize("<BIQQ") for name, _ in names)
    directory = struct.pack("<i", len(names))
    for name, content in names:
        directory += struct.pack("<H", len(name)) + name + struct.pack("<BIQQ", 0, 0, start, len(content))
        start += len(content)
    return head + directory + b"".join(content for _, content in names)


def test_header_pieces_and_tensors_come_back(tmp_path: Path) -> None:
    plain = np.arange(64, dtype=np.float32).reshape(2, 32)
    block = np.float16(0.5).tobytes() + bytes(15 << 4 | low for low in range(16))
    path = tmp_path / "teacher.bin"
    path.write_bytes(laid_down(plain, block))
    weights = Weights(path)
    assert weights.header == Header(32, 1, 1, 64, 3, 8, 2)
    assert weights.pieces == Pieces(TEXTS, SCORES, 0, 0, 1, 1)
    np.testing.assert_array_equal(weights.plain("emb.pos", 2, 32), plain)
    low, high = np.split(weights.packed("emb.word", 1, 32)[0], 2)
    np.testing.assert_array_equal(low, (np.arange(16) - 8) * 0.5)
    np.testing.assert_array_equal(high, np.full(16, 3.5))


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "teacher.bin"
    path.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(SystemExit, match="is not the teacher's file"):
        Weights(path)
