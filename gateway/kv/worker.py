"""The plugin in the worker's process: before a step it loads, after the step it records what has filled."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from gateway.kv import airlock
from gateway.kv._crc import crc32
from gateway.kv.capture import Recorder
from gateway.kv.desk import Errands
from gateway.kv.inject import Injector
from gateway.kv.layout import Cache, digest
from gateway.kv.pool import Pool, Torn
from gateway.kv.scribe import Scribe
from gateway.kv.shield import Shield
from gateway.kv.stats import Counts


class Looked(NamedTuple):
    """What the worker has found out about itself: how KV lies in memory, and why it can't splice, if it can't."""

    layout: str
    no_splice: str


class Worker:
    """Loads and records for the steps of one engine."""

    def __init__(self, pool: Pool, counts: Counts, shield: Shield, scribe: Scribe) -> None:
        self._pool, self._counts, self._shield, self._scribe = pool, counts, shield, scribe
        self.recorder: Recorder | None = None
        self.injector: Injector | None = None
        self.failed: set[str] = set()  # requests whose loads are lost, until somebody is told
        self.spoiled: set[int] = set()  # the blocks they were meant for

    def look(self, config: Any, kv_config: Any, caches: Mapping[str, Any]) -> Looked:
        """Find out how KV lies in memory; Unsupported if it is not understood."""
        airlock.engine_of(config, kv_config, splices=False)
        layers = airlock.layers_of(config, kv_config, caches)
        cache = Cache(layers, airlock.block_size(kv_config))
        if cache.record_bytes != airlock.record_bytes(kv_config):
            raise airlock.Unsupported("blocks are not as large as the engine says")
        rows = ropes = None
        no_splice = ""
        try:
            rows, ropes = cache.probe(), airlock.ropes_of(config, layers)
        except ValueError as fault:
            no_splice = str(fault)
        self.injector = Injector(cache, self._pool.lease, rows if ropes else None, ropes)
        self.recorder = Recorder(cache, self._pool, crc32, self._counts)
        return Looked(digest(rows) if rows else cache.shape(), no_splice)

    def load(self, errands: Errands) -> None:
        """Put in place what the step needs; what can't be is noted as failed, by request and by block."""
        for request, blocks in errands.failed:
            self._lose(request, blocks)
        for load in errands.loads:
            began = time.perf_counter()
            with self._shield("start_load_kv") as attempt:
                assert self.injector is not None, "a load for an engine that can't load"
                self.injector.load(load)
            if attempt.failed:
                self._lose(load.request, (number for group in load.blocks for number in group))
            if isinstance(attempt.fault, Torn):
                self._scribe.do(self._pool.drop, load.donor)
            self._counts.add("loads")
            self._counts.add("load_seconds", "", time.perf_counter() - began)

    def _lose(self, request: str, blocks: Iterable[int]) -> None:
        self.failed.add(request)
        self.spoiled.update(blocks)

    def save(self, errands: Errands) -> None:
        """Record what has filled in the step that has just run."""
        with self._shield("wait_for_save"):
            if self.recorder:
                self.recorder.begin(errands.begins)
                self.recorder.record(errands.saves)
                self.recorder.finish(errands.finished)

    def close(self) -> None:
        if self.recorder:
            self.recorder.close()
