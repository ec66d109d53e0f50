"""The worker's side of injection: parts of a donor put into the engine's cache before the step that needs them.

Exact parts are copied block by block as bytes. Spans that move are read token by token, their keys rotated to the new
positions (rope.py), and written through the kernel's own door.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

import torch

from gateway.kv.desk import Load, numbers
from gateway.kv.layout import Cache, Rows
from gateway.kv.nouns import Entry
from gateway.kv.rope import Rope


class Lease(Protocol):
    """A donor that stays as it is while it is read."""

    @property
    def entry(self) -> Entry: ...

    def read(self, index: int, into: memoryview) -> None:
        """Record `index`, verified. OSError or ValueError if it is gone or torn."""
        ...


Borrow = Callable[[str], AbstractContextManager[Lease]]


class Injector:
    """Loads parts of donors. `rows` and `ropes` (one a layer) are None where the engine can't splice."""

    def __init__(self, cache: Cache, borrow: Borrow, rows: Sequence[Rows] | None, ropes: Sequence[Rope] | None) -> None:
        self._cache, self._borrow, self._rows, self._ropes = cache, borrow, rows, ropes
        self._record = torch.zeros(cache.record_bytes, dtype=torch.uint8)

    def load(self, load: Load) -> None:
        """Put one part in place. Raises if any of it can't be: then nothing of the request may be trusted."""
        with self._borrow(load.donor) as lease:
            if load.exact:
                self._copy(load, lease)
            else:
                self._move(load, lease)

    def _copy(self, load: Load, lease: Lease) -> None:
        size, span = self._cache.block_size, load.span
        view = memoryview(self._record.numpy())
        for index in range(span.start // size, -(-span.end // size)):
            lease.read(index, view)
            self._cache.scatter(self._record, numbers(load.blocks, index), lease.entry.holes[index])

    def _move(self, load: Load, lease: Lease) -> None:
        if self._rows is None or self._ropes is None:
            raise ValueError("this engine can't splice")
        size, span = self._cache.block_size, load.span
        first, last = span.donor // size, -(-(span.donor + span.length) // size)
        records = torch.empty((last - first, self._cache.record_bytes), dtype=torch.uint8)
        for place, index in enumerate(range(first, last)):
            lease.read(index, memoryview(records[place].numpy()))
        inner = slice(span.donor - first * size, span.donor - first * size + span.length)
        slots = {group: self._slots(load, lease.entry, group) for group in range(len(load.blocks))}
        for number, layer in enumerate(self._cache.layers):
            targets, there = slots[layer.group]
            keys, values = self._rows[number].read(self._cache.raw(records, number))
            keys, values = keys[inner], values[inner]
            if not bool(there.all()):
                keys, values = keys[there], values[there]
            if len(targets):
                layer.write(self._ropes[number].moved(keys, span.shift), values.contiguous(), targets)

    def _slots(self, load: Load, donor: Entry, group: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Where the span's tokens go in one group, and which of them have a place there and are not a hole."""
        size, span = self._cache.block_size, load.span
        places = torch.arange(span.start, span.end)
        table = torch.tensor(list(load.blocks[group]), dtype=torch.int64)
        numbers = table[places // size]
        sources = torch.arange(span.donor, span.donor + span.length) // size
        lacking = torch.tensor([bool(holes >> group & 1) for holes in donor.holes])
        there = (numbers != 0) & ~lacking[sources]
        return (numbers * size + places % size)[there], there
