"""The worker's side of injection: parts of a donor put into the engine's cache before the step that needs them.

Exact parts are read into the engine's blocks as bytes. Spans that move are read token by token, their keys rotated to
the new positions (rope.py), and written through the kernel's own door. Records are read and verified by several
threads, in few and large steps: the engine waits for them, and its own are idle meanwhile.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from functools import partial
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
        """Record `index`, verified. OSError or ValueError if it is gone, Torn if it isn't what was written."""
        ...

    def fill(self, index: int, into: Sequence[memoryview]) -> None:
        """The same into several buffers, one after the other."""
        ...


MOST_HANDS = 4  # threads; more only wait for each other's memory

Borrow = Callable[[str], AbstractContextManager[Lease]]


class Injector:
    """Loads parts of donors. `rows` and `ropes` (one a layer) are None where the engine can't splice."""

    def __init__(self, cache: Cache, borrow: Borrow, rows: Sequence[Rows] | None, ropes: Sequence[Rope] | None) -> None:
        self._cache, self._borrow, self._rows, self._ropes = cache, borrow, rows, ropes
        hands = min(MOST_HANDS, os.cpu_count() or 1)
        self._records = torch.zeros((hands, cache.record_bytes), dtype=torch.uint8)
        self._hands = ThreadPoolExecutor(hands, "retrace-load")

    def load(self, load: Load) -> None:
        """Put one part in place. Raises if any of it can't be: then nothing of the request may be trusted."""
        with self._borrow(load.donor) as lease:
            if load.exact:
                self._copy(load, lease)
            else:
                self._move(load, lease)

    def _copy(self, load: Load, lease: Lease) -> None:
        size, span = self._cache.block_size, load.span
        first, last = span.start // size, -(-span.end // size)

        def copy(hand: int) -> None:
            for index in range(first + hand, last, len(self._records)):
                blocks, holes = numbers(load.blocks, index), lease.entry.holes[index]
                self._cache.put(self._records[hand], blocks, holes, partial(lease.fill, index))

        self._each(copy, range(min(len(self._records), last - first)))

    def _move(self, load: Load, lease: Lease) -> None:
        if self._rows is None or self._ropes is None:
            raise ValueError("this engine can't splice")
        size, span = self._cache.block_size, load.span
        first, last = span.donor // size, -(-(span.donor + span.length) // size)
        records = torch.empty((last - first, self._cache.record_bytes), dtype=torch.uint8)
        self._each(lambda place: lease.read(first + place, memoryview(records[place].numpy())), range(last - first))
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

    def _each(self, work: Callable[[int], None], numbers: Iterable[int]) -> None:
        """Do it for each number, several at a time; all are done when this returns or raises."""
        jobs = [self._hands.submit(work, number) for number in numbers]
        wait(jobs)
        for job in jobs:
            job.result()

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
