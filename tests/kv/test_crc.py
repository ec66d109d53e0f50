"""One checksum, whoever works it out: captures of an engine with zlib-ng are read by one without, and the other way."""

from __future__ import annotations

import random
import zlib

import pytest
from zlib_ng import zlib_ng

from gateway.kv import _crc


def test_the_fast_one_is_used_where_it_is_installed() -> None:
    assert _crc.crc32 is zlib_ng.crc32


@pytest.mark.parametrize("size", [0, 1, 15, 16, 4096, 300_001])
def test_it_is_python_s_own_value_in_one_piece_and_in_several(size: int) -> None:
    data = random.Random(size).randbytes(size)
    assert _crc.crc32(data) == zlib.crc32(data)
    parts = 0
    for part in (data[: size // 3], data[size // 3 :]):
        parts = _crc.crc32(memoryview(part), parts)
    assert parts == zlib.crc32(data)
