"""vLLM's scheduler, taught to jump: a span in the middle of a prompt is loaded instead of computed.

A step of a prefill ends where a jump begins (`_reserve_prefill_lookahead`); once it is scheduled the request counts as
computed up to the jump's end (`_update_after_schedule`); the load rides on the next step (`_build_kv_connector_meta`).
What was loaded approximately never enters the shared prefix cache: blocks from the first jump on are not cached, and
the request's own blocks carry a salt nobody else has. Whatever fails, the prompt is computed in full.
"""

from __future__ import annotations

import secrets
import time
from typing import Any

from gateway.kv.airlock import Scheduler, missing_hooks
from gateway.kv.connector import Lost, Orders, RetraceConnector
from gateway.kv.nouns import Decline
from gateway.kv.shield import Shield
from gateway.kv.stats import Counts


class RetraceScheduler(Scheduler):
    """The scheduler of an engine that can splice. Without RetraceConnector it is vLLM's own."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._shield = Shield(Counts())
        self._retrace = self.connector if isinstance(self.connector, RetraceConnector) else None
        if self._retrace is None:
            return
        self._shield = self._retrace.shield
        wrong = missing_hooks(Scheduler)
        if wrong:
            self._retrace.why_not = f"this vLLM's scheduler differs in {', '.join(wrong)}"
            self._retrace = None
            return
        self._retrace.hooked = True
        self.recompute_kv_load_failures = True  # a request is never failed for the sake of a load of ours
        coordinator = self.kv_cache_manager.coordinator
        self._cache_blocks, coordinator.cache_blocks = coordinator.cache_blocks, self._cache_some

    def add_request(self, request: Any) -> None:
        super().add_request(request)
        desk = self._retrace.desk if self._retrace else None
        if desk is None:
            return
        with self._shield("add_request") as attempt:
            if desk.splices(request.request_id):
                request.cache_salt = secrets.token_hex(16)
                request.block_hashes.clear()
                request.update_block_hashes()
        if attempt.failed:
            desk.again(request.request_id, Decline.FAULT)

    def _reserve_prefill_lookahead(self, request: Any, num_computed_tokens: int, num_new_tokens: int) -> int:
        new = int(super()._reserve_prefill_lookahead(request, num_computed_tokens, num_new_tokens))
        desk = self._retrace.desk if self._retrace else None
        if desk is None or new < 2:
            return new
        with self._shield("_reserve_prefill_lookahead"):
            return desk.stop_before(request.request_id, num_computed_tokens, new)
        desk.again(request.request_id, Decline.FAULT)
        return new

    def _update_after_schedule(self, scheduler_output: Any) -> None:
        super()._update_after_schedule(scheduler_output)
        desk = self._retrace.desk if self._retrace else None
        if desk is None or not desk.busy:
            return
        for name in scheduler_output.num_scheduled_tokens:
            request = self.requests[name]
            with self._shield("_update_after_schedule") as attempt:
                request.num_computed_tokens = desk.jump(name, request.num_computed_tokens)
            if attempt.failed:
                desk.again(name, Decline.FAULT)

    def _build_kv_connector_meta(self, connector: Any, scheduler_output: Any) -> Any:
        orders = super()._build_kv_connector_meta(connector, scheduler_output)
        if isinstance(orders, Orders) and orders.errands.loads:
            scheduler_output.has_sync_kv_loads = True  # loads first, then the forward pass
        return orders

    def _preempt_request(self, request: Any, timestamp: float, *args: Any, **kwargs: Any) -> None:
        super()._preempt_request(request, timestamp, *args, **kwargs)
        desk = self._retrace.desk if self._retrace else None
        if desk is not None:
            desk.again(request.request_id)

    def update_from_output(self, scheduler_output: Any, model_runner_output: Any) -> Any:
        told = model_runner_output.kv_connector_output
        if told is not None and isinstance(told.kv_connector_worker_meta, Lost):
            told.failed_recving = told.failed_recving | told.kv_connector_worker_meta.requests
        return super().update_from_output(scheduler_output, model_runner_output)

    def _handle_failed_recving(self, failed_req_ids: set[str]) -> set[str]:
        """Requests that ran on KV which could not be loaded: their step counts for nothing, they start over."""
        handled = set(super()._handle_failed_recving(failed_req_ids))
        desk = self._retrace.desk if self._retrace else None
        if desk is None:
            return handled
        spoiled = {number for name in failed_req_ids for number in self._blocks(name)}
        for request in list(self.running):
            if request.request_id in failed_req_ids or spoiled.intersection(self._blocks(request.request_id)):
                desk.again(request.request_id, Decline.LOAD_FAILED)
                self.running.remove(request)
                self._preempt_request(request, time.monotonic())
                handled.add(request.request_id)
        self.kv_cache_manager.evict_blocks(spoiled)
        return handled

    def _blocks(self, name: str) -> set[int]:
        """The blocks of a request, in all groups."""
        if name not in self.requests:
            return set()
        return {number for group in self.kv_cache_manager.get_block_ids(name) for number in group if number}

    def _cache_some(self, request: Any, num_computed_tokens: int) -> None:
        """Let full blocks into the shared prefix cache, but for what is approximate. In doubt, let none in."""
        cap: int | None = 0
        with self._shield("cache_blocks"):
            desk = self._retrace.desk if self._retrace else None
            cap = desk.cap(request.request_id) if desk else None
        self._cache_blocks(request, num_computed_tokens if cap is None else min(cap, num_computed_tokens))
