"""What the gateway notes of its work, in the words of the vocabulary."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from functools import lru_cache

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from gateway.types import Finding, Side, Usage, Verdict
from gateway.vocabulary import Vocabulary

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics(Vocabulary):
    """Notes what happens; `page` tells all of it."""

    def __init__(self) -> None:
        super().__init__()
        self.breaks = 0
        self._backends: set[str] = set()
        self._child = lru_cache(maxsize=4096)(lambda metric, *labels: metric.labels(*labels))
        self._exchange = lru_cache(maxsize=1024)(self._exchange_children)
        self._generation = lru_cache(maxsize=1024)(self._generation_children)

    def observe_exchange(self, surface: str, stream: bool, status: int, seconds: float, own: float) -> None:
        """A request was answered (or its client left)."""
        requests, duration, overhead = self._exchange(surface, stream, status)
        requests.inc()
        duration.observe(seconds)
        overhead.observe(own)

    def _exchange_children(self, surface: str, stream: bool, status: int) -> tuple[Counter, Histogram, Histogram]:
        requests = self.requests.labels(surface, "true" if stream else "false", str(status))
        return requests, self.duration.labels(surface), self.overhead.labels(surface)

    def observe_verdict(self, surface: str, verdict: Verdict) -> None:
        self._child(self.exchanges, surface, verdict.word).inc()

    def observe_stream(self, surface: str, ttft: float, held: int) -> None:
        """The first piece of a stream had left after `ttft` seconds; at most `held` characters waited at once."""
        self._child(self.ttft, surface).observe(ttft)
        self._child(self.holdback, surface).observe(held)

    def observe_findings(self, side: Side, findings: list[Finding]) -> None:
        for finding in findings:
            self._child(self.verdicts, side.value, finding.rule, finding.reason, finding.action.value).inc()

    def observe_usage(self, tenant: str, usage: Usage | None) -> None:
        if usage:
            self._child(self.tokens, tenant, "prompt").inc(usage.prompt)
            self._child(self.tokens, tenant, "completion").inc(usage.completion)

    def upstream_error(self, backend: str, kind: str) -> None:
        self._child(self.upstream_errors, backend, kind).inc()

    def backends(self, health: Mapping[str, bool]) -> None:
        """Which backends have a healthy replica: all there are, by name."""
        for name in self._backends - health.keys():
            self.backend_up.labels(name).set(math.nan)  # it can't be taken away where several processes count
        self._backends |= health.keys()
        for name, up in health.items():
            self.backend_up.labels(name).set(1 if up else 0)

    def client_gone(self, surface: str) -> None:
        self._child(self.gone, surface).inc()

    def guard_broken(self, rule: str) -> None:
        """A check has failed; `breaks` is how often that has happened in this process."""
        self.breaks += 1
        self._child(self.broken, rule).inc()

    def observe_probe(self, rule: str, said: str, seconds: float) -> None:
        """A rule has asked its probe: `pass`, `flag`, `dropped` (nobody waited any more), or how it failed."""
        self._child(self.probes, rule, said).inc()
        self._child(self.probe_seconds, rule).observe(seconds)

    def observe_capture(self, verdict: str, reason: str) -> None:
        """A capture is over for the gateway: kept, dropped, gone, failed or lost, for a reason code or word of ours."""
        self._child(self.captures, verdict, reason).inc()

    def observe_injection(self, mode: str, injected: int, recomputed: int) -> None:
        """An engine confirmed how many tokens it reused, and how many of them it computed anew all the same."""
        self._child(self.injected, mode).inc(injected)
        self._child(self.recomputed, mode).inc(recomputed)

    def observe_lookup(self, seconds: float, found: bool) -> None:
        """A donor was searched for."""
        self._child(self.lookups, "donor" if found else "none").inc()
        self.lookup_seconds.observe(seconds)

    def store(self, up: bool) -> None:
        """Whether the store of captures answers."""
        self.store_up.set(1 if up else 0)

    def store_fault(self, kind: str) -> None:
        self._child(self.store_faults, kind).inc()

    def observe_declined(self, reason: str) -> None:
        self._child(self.declined, reason).inc()

    def rewind_spent(self, finding: Finding) -> None:
        """A finding called for a rewind; there could be none, so it meant something else."""
        self._child(self.rewinds_spent, finding.reason, finding.action.value).inc()

    def observe_rewind(self, reason: str, anchor: str, wasted: int) -> None:
        """An answer was cut back; so many tokens of it were lost."""
        self._child(self.rewinds, reason, anchor).inc()
        self._child(self.wasted, reason).inc(wasted)

    def observe_refined(self, outcome: str, why: str, seconds: float) -> None:
        """An answer was looked at; if it was read once more or should have been, that took so long."""
        self._child(self.refined, outcome, why).inc()
        if outcome != "untouched":
            self._child(self.refine_seconds, outcome).observe(seconds)

    def observe_reading(self, tenant: str, usage: Usage, cached: int) -> None:
        """A second reading was made; so many tokens of its prompt were in the engine's cache."""
        for kind, count in (("prompt", usage.prompt), ("completion", usage.completion), ("cached", cached)):
            self._child(self.refine_tokens, tenant, kind).inc(count)

    def tier_judged(self, tier: str, decision: str) -> None:
        self._child(self.tiers, tier, decision).inc()

    def corrected(self, fate: str, count: int = 1) -> None:
        self._child(self.corrections, fate).inc(count)

    def refine_cache(self, result: str) -> None:
        self._child(self.refine_cached, result).inc()

    def docket(self, event: str) -> None:
        self._child(self.review_queue, event).inc()

    def backlog(self, event: str) -> None:
        self._child(self.refine_backlog, event).inc()

    def refining(self, up: bool) -> None:
        """Whether second readings are made."""
        self.refine_up.set(1 if up else 0)

    def audit(self, event: str, count: int = 1) -> None:
        """Lines of the audit log were `written` or `lost`, or a try at it `failed`. From any thread."""
        self._child(self.audited, event).inc(count)

    def acted(self, act: str, code: str, how: str) -> None:
        """The controller did something, to a reason code or to all; or it only proposed it, or failed to."""
        self._child(self.acts, act, code, how).inc()

    def holding(self, *, fallback: bool, breaker: bool, codes_off: int, loosened: int) -> None:
        """What it holds in force."""
        held = {"fallback": fallback, "breaker": breaker, "codes_off": codes_off, "loosened": loosened}
        for what, count in held.items():
            self.hand.labels(what).set(int(count))

    def observe_generation(
        self, whom: tuple[str, str, str], error: str, seconds: float, first: float | None, usage: Usage | None
    ) -> None:
        """An exchange is over that asked a model: operation, provider and model, and the status if it failed."""
        duration, ttft, prompt, completion = self._generation(*whom, error)
        duration.observe(seconds)
        if first is not None:
            ttft.observe(first)
        if usage is not None:
            prompt.observe(usage.prompt)
            completion.observe(usage.completion)

    def _generation_children(self, *labels: str) -> tuple[Histogram, Histogram, Histogram, Histogram]:
        *whom, error = labels
        prompt, completion = (self.gen_ai_tokens.labels(*whom, kind) for kind in ("input", "output"))
        return self.gen_ai_duration.labels(*whom, error), self.gen_ai_first.labels(*whom), prompt, completion

    def traced(self, event: str, count: int = 1) -> None:
        """What became of so many traces: `sent`, `dropped`, `failed` or `limited`. From any thread."""
        self._child(self.traces, event).inc(count)

    def figure(self, name: str, figure: tuple[float, float, float, int] | None) -> None:
        """A figure was read: its value, its bounds, and of how many samples it is; None if there are none."""
        told = figure or (math.nan, math.nan, math.nan, 0)
        for of, value in zip(("value", "low", "high"), told, strict=False):
            self._child(self.figures, name, of).set(value)
        self._child(self.figure_samples, name).set(told[3])

    def shadowed(self, result: str) -> None:
        """An exchange was drawn to be repeated: `made`, or why not."""
        self._child(self.shadows, result).inc()

    def shadow_spent(self, side: str, tokens: int) -> None:
        self._child(self.shadow_tokens, side).inc(tokens)

    def unconfirmed(self, codes: Mapping[str, bool]) -> None:
        """Which reason codes are off until somebody confirms their policies: all there are."""
        for code, off in codes.items():
            self.policy_unconfirmed.labels(code).set(1 if off else 0)

    def policies_fault(self, kind: str) -> None:
        """The state file of policies was `unreadable`, or `unwritable`."""
        self._child(self.policy_faults, kind).inc()

    def trial(self, event: str) -> None:
        """A changed policy was `begun` to be tried, `accepted`, `turned_back`, `withdrawn`, or in force `at_once`."""
        self._child(self.trials, event).inc()

    def reloaded(self, ok: bool) -> None:
        self._child(self.reloads, "ok" if ok else "failed").inc()
        self.reload_ok.set(1 if ok else 0)

    def page(self) -> bytes:
        """The text that Prometheus scrapes, over all workers."""
        if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
            return generate_latest(self.registry)
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)
