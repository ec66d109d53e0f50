"""The worker's side of capturing: blocks are copied at once, written and published behind the engine's back.

The engine may give a block to another request as soon as the step is over, so its bytes are copied within the step,
into one of a few buffers made beforehand; a thread writes them into the pool, all that a step has filled at once. When
all buffers are in use a capture ends there: the engine never waits for the pool.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple, Protocol

import torch

from gateway.kv.desk import Begin, Finished, Save
from gateway.kv.layout import Cache
from gateway.kv.nouns import Block, Owner
from gateway.kv.shield import Shield
from gateway.kv.stats import Counts

STAGING_BYTES = 128 << 20
STAGING_BLOCKS = 1024  # all that a step fills: engines with small blocks fill hundreds of them
TOGETHER = 16  # blocks at most that are written in one go, so that buffers are free again early


class Shelf(Protocol):
    """What of the pool is needed here."""

    def begin(self, id: str, owner: Owner, block_size: int, record_bytes: int, prompt_tokens: int = 0) -> bool: ...

    def put(self, id: str, *records: tuple[Block, memoryview]) -> int: ...

    def finish(self, id: str, report: Mapping[str, object], tail: Sequence[int] = ()) -> None: ...


class _Filled(NamedTuple):
    buffer: int
    save: Save
    holes: int


class Recorder:
    """Copies filled blocks and has them written; `close` waits until all is written."""

    def __init__(self, cache: Cache, shelf: Shelf, checksum: Callable[[memoryview], int], counts: Counts) -> None:
        self._cache, self._shelf, self._checksum, self._counts = cache, shelf, checksum, counts
        self._shield = Shield(counts)
        slots = max(4, min(STAGING_BLOCKS, STAGING_BYTES // cache.record_bytes))
        self._staging = torch.zeros((slots, cache.record_bytes), dtype=torch.uint8)
        self._views = [memoryview(slot.numpy()) for slot in self._staging]
        self._free = list(range(slots))  # the last one used is the next one taken: it may still be in a cache
        self._work: queue.SimpleQueue[list[_Filled] | Begin | Finished | None] = queue.SimpleQueue()
        self._short: set[str] = set()  # captures that ended early, until their request is over
        self._thread = threading.Thread(target=self._write_all, name="retrace-recorder", daemon=True)
        self._thread.start()

    def begin(self, begins: Iterable[Begin]) -> None:
        """These requests run for the first time; said to the pool before any of their blocks."""
        for begin in begins:
            self._work.put(begin)

    def record(self, saves: Iterable[Save]) -> None:
        """Copy blocks that have filled in the step that has just run."""
        for _, some in groupby(saves, attrgetter("capture")):
            filled: list[_Filled] = []
            for save in some:
                if (buffer := self._buffer(save.capture)) is None:
                    break
                self._cache.gather(save.blocks, self._staging[buffer])
                holes = sum(1 << group for group, number in enumerate(save.blocks) if not number)
                filled.append(_Filled(buffer, save, holes))
                if len(filled) == TOGETHER:
                    self._work.put(filled)
                    filled = []
            if filled:
                self._work.put(filled)

    def _buffer(self, capture: str) -> int | None:
        """A free one; None, and the capture has ended, if there is none."""
        if capture in self._short:
            return None
        try:
            return self._free.pop()
        except IndexError:
            self._short.add(capture)
            self._counts.add("captures_cut", "busy")
            return None

    def finish(self, finished: Iterable[Finished]) -> None:
        """These requests are over; said to the pool once all their blocks are written."""
        for one in finished:
            self._work.put(one)
            self._short.discard(one.capture)

    def close(self) -> None:
        self._work.put(None)
        self._thread.join(timeout=10)

    def _write_all(self) -> None:
        while (work := self._work.get()) is not None:
            with self._shield("recorder"):
                if isinstance(work, list):
                    self._write(work)
                elif isinstance(work, Begin):
                    size, record = self._cache.block_size, self._cache.record_bytes
                    self._shelf.begin(work.capture, work.owner, size, record, work.prompt)
                else:
                    self._shelf.finish(*work)

    def _write(self, filled: Sequence[_Filled]) -> None:
        capture = filled[0].save.capture
        try:
            done = self._shelf.put(capture, *map(self._sealed, filled))
            self._counts.add("captured_tokens", "", sum(len(one.save.tokens) for one in filled[:done]))
            if done < len(filled):
                self._counts.add("captures_cut", "refused")
                self._short.add(capture)
        finally:
            self._free += [one.buffer for one in filled]

    def _sealed(self, filled: _Filled) -> tuple[Block, memoryview]:
        save, view = filled.save, self._views[filled.buffer]
        return Block(save.number, save.tokens, self._checksum(view), filled.holes), view
