"""What vLLM calls: one object in the scheduler's process, one in the worker's. It decides nothing, it forwards.

scheduler: a request comes -> desk plans; it is given blocks -> desk promises; a step is built -> errands for the worker
worker:    errands before the step -> loads; after it -> records of what has filled
"""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gateway.kv import airlock, prom
from gateway.kv.airlock import ConnectorBase, HandshakeBase, MetadataBase, Role, SupportsHybrid, WordBase
from gateway.kv.ask import BadAsk
from gateway.kv.desk import Desk, Errands
from gateway.kv.nouns import Decline, Report
from gateway.kv.pool import Pool
from gateway.kv.scribe import Scribe
from gateway.kv.settings import Settings
from gateway.kv.shield import Shield
from gateway.kv.stats import Counts
from gateway.kv.worker import Looked, Worker

log = logging.getLogger(__name__)

UPKEEP_SECONDS = 15.0


@dataclass
class Handshake(HandshakeBase):
    """What the worker has found out about itself, on its way to the scheduler."""

    looked: Looked


@dataclass
class Orders(MetadataBase):
    """Errands on their way to the worker, and how to report a load that fails (see `RetraceConnector.hooked`)."""

    errands: Errands = field(default_factory=Errands)
    by_request: bool = True


@dataclass
class Lost(WordBase):
    """Requests that ran on KV which could not be loaded: the worker's word to RetraceScheduler."""

    requests: set[str]

    def aggregate(self, other: Any) -> Lost:
        return Lost(self.requests | other.requests)


class RetraceConnector(ConnectorBase, SupportsHybrid):
    """The plugin as vLLM knows it."""

    def __init__(self, vllm_config: Any, role: Any, kv_cache_config: Any) -> None:
        super().__init__(vllm_config, role, kv_cache_config)
        self.counts = Counts()
        self.shield = Shield(self.counts)
        self._config, self._kv_config = vllm_config, kv_cache_config
        self._orders = Orders()
        self.pool: Pool | None = None
        self.desk: Desk | None = None
        self.worker: Worker | None = None
        self._handshake: Handshake | None = None
        self._scribe = Scribe(self.counts)
        self._next_upkeep = 0.0
        self.hooked = False  # RetraceScheduler is there, and its hooks are what they should be
        self.why_not = ""
        with self.shield("start"):
            self.pool = Pool(Settings.read())
            if role == Role.SCHEDULER:
                self.pool.recover()

    # In the worker

    def register_kv_caches(self, kv_caches: Mapping[str, Any]) -> None:
        with self.shield("register_kv_caches"):
            if self.pool is not None:
                self.worker = self.hands(self.pool)
                self._handshake = Handshake(self.worker.look(self._config, self._kv_config, kv_caches))

    def hands(self, pool: Pool) -> Worker:
        """What does the work in this process."""
        return Worker(pool, self.counts, self.shield, self._scribe)

    def get_handshake_metadata(self) -> Handshake | None:
        return self._handshake

    def bind_connector_metadata(self, connector_metadata: Any) -> None:
        super().bind_connector_metadata(connector_metadata)
        self._orders = connector_metadata if isinstance(connector_metadata, Orders) else Orders()

    def clear_connector_metadata(self) -> None:
        super().clear_connector_metadata()
        self._orders = Orders()

    def start_load_kv(self, forward_context: Any, **kwargs: Any) -> None:
        if self.worker:
            self.worker.load(self._orders.errands)

    def wait_for_layer_load(self, layer_name: str) -> None:
        """Everything is loaded before the step begins."""

    def save_kv_layer(self, layer_name: str, kv_layer: Any, attn_metadata: Any, **kwargs: Any) -> None:
        """Everything is recorded when the step has ended."""

    def wait_for_save(self) -> None:
        if self.worker:
            self.worker.save(self._orders.errands)

    def build_connector_worker_meta(self) -> Lost | None:
        if self.worker is None or not self.worker.failed or not self._orders.by_request:
            return None
        failed, self.worker.failed = self.worker.failed, set()
        self.worker.spoiled.clear()
        return Lost(failed)

    def get_block_ids_with_load_errors(self) -> set[int]:
        """vLLM's own way to hear of failed loads, for an engine without RetraceScheduler."""
        if self.worker is None or self._orders.by_request:
            return set()
        spoiled, self.worker.spoiled = self.worker.spoiled, set()
        self.worker.failed.clear()
        return spoiled

    # In the scheduler

    def set_xfer_handshake_metadata(self, metadata: Mapping[int, Any]) -> None:
        told = next(iter(metadata.values()), None)
        with self.shield("handshake"):
            if self.pool is not None and isinstance(told, Handshake):
                self._open_desk(self.pool, told.looked)

    def _open_desk(self, pool: Pool, told: Looked) -> None:
        self.why_not = self.why_not or told.no_splice
        splices = self.hooked and not self.why_not
        engine = airlock.engine_of(self._config, self._kv_config, splices)
        identity = {**airlock.identity(self._config, self._kv_config), "layout": told.layout}
        fingerprint = hashlib.sha256(json.dumps(identity, sort_keys=True, default=str).encode()).hexdigest()[:32]
        self._fingerprint, self._record_bytes = fingerprint, airlock.record_bytes(self._kv_config)
        self.desk = Desk(engine, pool.find)
        modes = ["prefix", "splice"] if splices else ["prefix"] if self.hooked or len(engine.windows) == 1 else []
        told_of_us = {"fingerprint": fingerprint, "modes": modes, "no_splice": self.why_not, **identity}
        pool.publish_engine(told_of_us)
        log.info("retrace: modes %s %s", modes, self.why_not)

    def on_new_request(self, request: Any) -> None:
        with self.shield("on_new_request"):
            if self.desk is not None and self.pool is not None and request.kv_transfer_params:
                self._admit(self.desk, self.pool, request)

    def _admit(self, desk: Desk, pool: Pool, request: Any) -> None:
        try:
            subject = airlock.subject_of(request, self._fingerprint)
        except BadAsk as fault:
            log.warning("retrace: %s", fault)
            desk.refuse(request.request_id, Decline.BAD_ASK)
            return
        if subject is None:
            return
        track = desk.admit(request.request_id, subject, lambda: int(request.num_computed_tokens))
        if track.report.declined == Decline.ON_DISK:
            self._scribe.do(pool.promote, subject.ask.donor)
        if subject.ask.capture:  # known from here on, captured or not: a verdict may come at any time
            size, prompt = desk.engine.block_size, request.num_prompt_tokens
            self._scribe.do(pool.begin, subject.ask.capture, subject.owner, size, self._record_bytes, prompt)

    def get_num_new_matched_tokens(self, request: Any, num_computed_tokens: int) -> tuple[int, bool]:
        with self.shield("get_num_new_matched_tokens"):
            if self.desk is not None and self._recoverable:
                return self.desk.prefix(request.request_id, num_computed_tokens), False
        return 0, False

    @property
    def _recoverable(self) -> bool:
        """Whether a load that fails can be made good: vLLM itself knows how only where there is one KV group."""
        return self.hooked or len(self._kv_config.kv_cache_groups) == 1

    def update_state_after_alloc(self, request: Any, blocks: Any, num_external_tokens: int) -> None:
        """From here on the engine counts on the tokens; if they can't be ordered, the request is named as failed."""
        with self.shield("update_state_after_alloc") as attempt:
            if self.desk is not None:
                self.desk.allocated(request.request_id, num_external_tokens)
        if attempt.failed and num_external_tokens and self.desk is not None:
            self.desk.lose(request.request_id)

    def build_connector_meta(self, scheduler_output: Any) -> Any:
        with self.shield("build_connector_meta"):
            return Orders(self._errands(scheduler_output), self.hooked)
        waiting = self.desk.waiting if self.desk else []
        return Orders(
            Errands(failed=tuple((name, self._numbers(scheduler_output, name)) for name in waiting)), self.hooked
        )

    def _numbers(self, scheduled: Any, request: str) -> tuple[int, ...]:
        """The blocks of a request whose loads can't be ordered."""
        state = scheduled.kv_connector_block_state
        table = state.get_block_ids(request) if state else None
        return tuple(number for group in table or () for number in group)

    def _errands(self, scheduled: Any) -> Errands:
        self._upkeep()
        if self.desk is None or not self.desk.busy:
            return Errands()
        state, counts = scheduled.kv_connector_block_state, scheduled.num_scheduled_tokens
        return self.desk.step(counts.items(), state.get_block_ids if state else lambda _: None)

    def _upkeep(self) -> None:
        """Now and then: what is out of time goes. The API's process does the same while the engine is idle."""
        now = time.monotonic()
        if self.pool and now >= self._next_upkeep:
            self._next_upkeep = now + UPKEEP_SECONDS
            self._scribe.do(self.pool.sweep)
            self._scribe.do(self._measure)

    def _measure(self) -> None:
        if self.pool:
            usage = self.pool.usage()
            self.counts.set("pool_bytes", "", usage.bytes)
            self.counts.set("pool_disk_bytes", "", usage.disk_bytes)
            for state, count in usage.entries.items():
                self.counts.set("pool_captures", state.value, count)

    def update_connector_output(self, connector_output: Any) -> None:
        """Failures are handled by RetraceScheduler; there is nothing else to know."""

    def request_finished_all_groups(self, request: Any, block_ids: Any) -> tuple[bool, dict[str, Any] | None]:
        with self.shield("request_finished"):
            report = self.desk.finish(request.request_id) if self.desk else None
            if report is not None:
                self._count(report)
                return False, {"retrace": report.to_dict()}
        return False, None

    def _count(self, report: Report) -> None:
        if report.injected_tokens:
            self.counts.add("injected_tokens", report.mode.value, report.injected_tokens)
            self.counts.add("recomputed_tokens", "", report.recomputed_tokens)
        if report.declined:
            self.counts.add("declined", report.declined)

    def request_finished(self, request: Any, block_ids: list[int]) -> tuple[bool, dict[str, Any] | None]:
        return self.request_finished_all_groups(request, (block_ids,))

    # In both

    @property
    def requires_kv_delivery(self) -> bool:
        """A capture that is lost costs nothing but itself."""
        return False

    def get_kv_connector_stats(self) -> Any:
        table = self.counts.take()
        return prom.RetraceStats(data=table) if table else None

    @classmethod
    def build_kv_connector_stats(cls, data: dict[str, Any] | None = None) -> Any:
        return prom.RetraceStats(data=data or {})

    @classmethod
    def build_prom_metrics(cls, vllm_config: Any, metric_types: Any, labelnames: Any, per_engine: Any) -> Any:
        return prom.RetraceProm(vllm_config, metric_types, labelnames, per_engine)

    def shutdown(self) -> None:
        with self.shield("shutdown"):
            if self.worker:
                self.worker.close()
            self._scribe.close()
