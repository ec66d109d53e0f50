"""Which of a sketch's hashes are looked up, and a capture as bytes.

A long prompt has hundreds of hashes; at most 32 of each kind are looked up. Which ones depends on the hashes alone,
never on where they stand, and those of a longer prompt are among those of a shorter one with the same content: so a
capture and a request meet, however different their lengths.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gateway.stores import WIDTH, Kept, Sketch

MOST = 32  # hashes of one kind
ENDS = 4  # of `prefix`, so many of the first and of the last are always among them

Words: TypeAlias = NDArray[np.uint64]
Places: TypeAlias = NDArray[np.intp]

_ONE = np.uint64(1)


class Looked(NamedTuple):
    """The hashes of a sketch that are looked up, in its own order, and for the chunks their bytes of text."""

    prefix: Words
    chunks: Words
    sizes: Sequence[int]


def looked_up(sketch: Sketch) -> Looked:
    """At most MOST of each kind."""
    prefix, chunks = np.frombuffer(sketch.prefix, "<u8"), np.frombuffer(sketch.chunks, "<u8")
    if len(prefix) <= MOST and len(chunks) <= MOST:
        return Looked(prefix, chunks, sketch.sizes)
    prefix = prefix[_sampled(prefix, ENDS)]
    places = _sampled(chunks)
    return Looked(prefix, chunks[places], [sketch.sizes[place] for place in places.tolist()])


def _sampled(hashes: Words, ends: int = 0) -> Places:
    """Where the hashes stand that end in the most zero bits: those with at least so many that MOST are left."""
    if len(hashes) <= MOST:
        return np.arange(len(hashes))
    if ends:
        room, distinct = MOST - 2 * ends, np.arange(len(hashes))
    else:
        room, distinct = MOST, np.unique(hashes, return_index=True)[1]
    zeros = _zeros(hashes[distinct])
    if len(zeros) > room:
        level = np.partition(zeros, -room - 1)[-room - 1]  # of the first one that there is no room for
        distinct = distinct[zeros > level]
    kept = np.zeros(len(hashes), np.bool_)
    kept[distinct] = True
    if ends:
        kept[:ends] = kept[-ends:] = True
    return np.flatnonzero(kept)


def _zeros(hashes: Words) -> NDArray[np.uint8]:
    """How many zero bits each ends in."""
    return np.bitwise_count((hashes & (~hashes + _ONE)) - _ONE)


# What is fixed comes first, then the texts, the bytes, and the numbers.
_FIXED = struct.Struct("<2sd9I")  # magic, until; characters of each text; bytes of texts, whose, ...; sizes and codes
_MAGIC = b"K1"


def pack(kept: Kept) -> bytes:
    """A capture as bytes."""
    whose, chunks, prefix, sizes, codes = kept.sketch
    texts = kept[:4]
    told = "".join(texts).encode("utf-8", "surrogatepass")
    lengths = (*map(len, texts[:3]), *map(len, (told, whose, chunks, prefix)), len(sizes), len(codes))
    numbers = struct.pack(f"<{len(sizes)}I{len(codes)}Q", *sizes, *codes)
    return b"".join((_FIXED.pack(_MAGIC, kept.until, *lengths), told, whose, chunks, prefix, numbers))


def unpack(packed: bytes) -> Kept:
    """The capture; ValueError if these are not the bytes of one."""
    try:
        magic, until, first, second, third, told, whose, chunks, prefix, sizes, codes = _FIXED.unpack_from(packed)
        whose += (told := _FIXED.size + told)
        prefix += (chunks := whose + chunks)
        numbers = struct.unpack_from(f"<{sizes}I{codes}Q", packed, prefix)
    except struct.error as fault:
        raise ValueError("no packed capture") from fault
    if magic != _MAGIC or prefix + 4 * sizes + 8 * codes != len(packed) or (chunks - whose | prefix - chunks) % WIDTH:
        raise ValueError("no packed capture")
    text = packed[_FIXED.size : told].decode("utf-8", "surrogatepass")
    third += (second := first + second)
    sketch = Sketch(packed[told:whose], packed[whose:chunks], packed[chunks:prefix], numbers[:sizes], numbers[sizes:])
    return Kept(text[:first], text[first:second], text[second:third], text[third:], until, sketch)
