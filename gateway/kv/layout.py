"""How the engine's KV lies in memory, found out by looking: which bytes are a block's, and where in it each element is.

A block's inside is the attention kernel's own business (on some processors K and V are packed in tiles), so whole
blocks are copied as bytes, and single tokens are reached through a permutation that is probed: known patterns are
written through the kernel's own door, and looked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

DIGIT = 1 << 13  # patterns a probe can tell apart at once
FIRST_PATTERN = 0x0400  # the smallest normal number of float16; a normal one in bfloat16 as well
SCRATCH = 1  # the block that is probed; nothing is in any when the engine starts

Write = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], None]
"""Keys and values [tokens, heads, head_dim] to slots [tokens], as the layer itself does it."""


@dataclass(frozen=True)
class Layer:
    """One attention layer's part of the cache. `kv` has its blocks along dimension `dim`."""

    name: str
    group: int
    kv: torch.Tensor
    dim: int
    heads: int
    head_dim: int
    write: Write

    def block(self, number: int) -> torch.Tensor:
        """A view of one block."""
        return self.kv.select(self.dim, number)

    @property
    def block_bytes(self) -> int:
        return int(self.block(0).numel() * self.kv.element_size())


@dataclass(frozen=True)
class Rows:
    """Where in a block's elements, in order, the keys and values of each token are: [block_size, heads, head_dim]."""

    keys: torch.Tensor
    values: torch.Tensor

    def same(self, other: Rows) -> bool:
        """Whether two layers keep their elements alike."""
        return bool(torch.equal(self.keys, other.keys)) and bool(torch.equal(self.values, other.values))

    def read(self, blocks: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys and values [blocks * block_size, heads, head_dim] out of raw blocks [blocks, elements]."""
        shape = (-1, *self.keys.shape[1:])
        return (
            blocks.index_select(1, self.keys.flatten()).reshape(shape),
            blocks.index_select(1, self.values.flatten()).reshape(shape),
        )


class Cache:
    """All layers of the engine's cache, and one record's place for each: a record is a block of all layers."""

    def __init__(self, layers: Sequence[Layer], block_size: int) -> None:
        self.layers, self.block_size = tuple(layers), block_size
        self.offsets: list[int] = []
        end = 0
        for layer in self.layers:
            self.offsets.append(end)
            end += layer.block_bytes
        self.record_bytes = end
        self._bytes = [_bytes(layer) for layer in self.layers]

    def gather(self, blocks: Sequence[int], record: torch.Tensor) -> None:
        """Copy block `blocks[group]` of every layer into a record (bytes). Block 0 is nobody's: zeros."""
        for place, layer in enumerate(self.layers):
            part = record[self.offsets[place] : self.offsets[place] + layer.block_bytes]
            number = blocks[layer.group]
            if not number:
                part.zero_()
            elif (raw := self._bytes[place]) is not None:
                np.copyto(part.numpy().reshape(raw[number].shape), raw[number])
            else:
                part.view(layer.kv.dtype).view(layer.block(number).shape).copy_(layer.block(number))

    def put(
        self, record: torch.Tensor, blocks: Sequence[int], holes: int, fill: Callable[[list[memoryview]], None]
    ) -> None:
        """Have a record filled in: `fill` is given a buffer for each layer's part, in order.

        They are block `blocks[group]` of the layers themselves where that is memory in one piece; elsewhere parts of
        `record` (bytes, to be used as `put` likes), copied behind it. What has no block or is a hole goes nowhere.
        """
        behind: list[tuple[Layer, int, torch.Tensor]] = []
        views: list[memoryview] = []
        for place, layer in enumerate(self.layers):
            number = 0 if holes >> layer.group & 1 else blocks[layer.group]
            raw = self._bytes[place]
            if number and raw is not None and raw[number].flags.c_contiguous:
                views.append(memoryview(raw[number].reshape(-1)))
                continue
            part = record[self.offsets[place] : self.offsets[place] + layer.block_bytes]
            views.append(memoryview(part.numpy()))
            if number:
                behind.append((layer, number, part))
        fill(views)
        for layer, number, part in behind:
            layer.block(number).copy_(part.view(layer.kv.dtype).view(layer.block(number).shape))

    def raw(self, records: torch.Tensor, number: int) -> torch.Tensor:
        """Layer `number`'s part of records [n, record_bytes], as elements [n, elements]."""
        layer, offset = self.layers[number], self.offsets[number]
        return records[:, offset : offset + layer.block_bytes].contiguous().view(layer.kv.dtype)

    def shape(self) -> str:
        """A name for how blocks look from outside, where their inside is not known."""
        told = [
            (layer.name, tuple(layer.block(0).shape), layer.block(0).stride(), str(layer.kv.dtype))
            for layer in self.layers
        ]
        return hashlib.sha256(repr(told).encode()).hexdigest()[:16]

    def probe(self) -> list[Rows]:
        """The permutation of each layer; those that are alike share one. ValueError if the kernel hides it."""
        known: list[Rows] = []
        rows = []
        for layer in self.layers:
            found = probed(layer, self.block_size)
            alike = next((row for row in known if row.same(found)), None)
            if alike is None:
                known.append(found)
            rows.append(alike or found)
        return rows


def _bytes(layer: Layer) -> NDArray[np.uint8] | None:
    """A layer's blocks as bytes, block by block; None where they are not in this processor's memory.

    numpy copies them in the thread that asks. torch would have its own threads do it, which wait for each other: it
    takes up to four times as long.
    """
    if layer.kv.device.type != "cpu":
        return None
    blocks: NDArray[np.uint8] = layer.kv.movedim(layer.dim, 0).view(torch.uint8).numpy()
    return blocks


def probed(layer: Layer, block_size: int) -> Rows:
    """Write patterns through the layer's own door and see where they land; the block is zeros again afterwards."""
    width = torch.int16 if layer.kv.element_size() == 2 else torch.int32
    if layer.kv.element_size() not in (2, 4) or not layer.kv.dtype.is_floating_point:
        raise ValueError(f"KV of type {layer.kv.dtype} is not understood token by token")
    shape = (block_size, layer.heads, layer.head_dim)
    zeros = torch.zeros(shape, dtype=layer.kv.dtype)
    found = [_found(layer, width, shape, lambda k: (k, zeros)), _found(layer, width, shape, lambda v: (zeros, v))]
    layer.block(SCRATCH).zero_()
    if len(torch.unique(torch.cat([found[0].flatten(), found[1].flatten()]))) != 2 * zeros.numel():
        raise ValueError("keys and values share places")
    return Rows(*found)


def _found(
    layer: Layer,
    width: torch.dtype,
    shape: tuple[int, int, int],
    pair: Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]],
) -> torch.Tensor:
    """Where each element of `shape` is found in the block, digit by digit of its number."""
    count = shape[0] * shape[1] * shape[2]
    slots = torch.arange(SCRATCH * shape[0], (SCRATCH + 1) * shape[0], dtype=torch.int64)
    numbers = torch.arange(count)
    seen: torch.Tensor | None = None
    scale = 1
    while scale < count or seen is None:
        digits = numbers // scale % DIGIT + FIRST_PATTERN
        pattern = digits.to(width) if width == torch.int16 else (digits << 13).to(width)
        layer.write(*pair(pattern.view(layer.kv.dtype).reshape(shape)), slots)
        raw = layer.block(SCRATCH).contiguous().view(width).flatten().long()
        raw = raw if width == torch.int16 else raw >> 13
        part = torch.where(raw >= FIRST_PATTERN, (raw - FIRST_PATTERN) * scale, -1)
        seen = part if seen is None else torch.where((part >= 0) & (seen >= 0), seen + part, -1)
        scale *= DIGIT
    places = torch.full((count,), -1, dtype=torch.int64)
    at = torch.nonzero(seen >= 0).flatten()
    if len(at) != count or int(seen.max()) >= count:
        raise ValueError("the kernel does not keep keys and values as they are")
    places[seen[at]] = at
    if int(places.min()) < 0:
        raise ValueError("the kernel does not keep keys and values as they are")
    return places.reshape(shape)


def digest(rows: Sequence[Rows]) -> str:
    """A name for the permutations: KV that lies otherwise in memory has another one."""
    told = hashlib.sha256()
    for part in {id(row): row for row in rows}.values():
        told.update(part.keys.numpy().tobytes())
        told.update(part.values.numpy().tobytes())
    return told.hexdigest()[:16]
