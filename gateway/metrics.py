"""Every figure the gateway counts, each named once. Labels hold what the configuration bounds, no client's words.

With several worker processes prometheus_client keeps its values in files under PROMETHEUS_MULTIPROC_DIR (set before
this module is imported); a scrape of any worker then tells the sums of all.
"""

from __future__ import annotations

import os
from functools import lru_cache

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from gateway.types import Finding, Side, Usage, Verdict

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
_OWN_SECONDS = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5)
_CHARS = (0, 8, 16, 32, 64, 128, 256, 512, 1024, 4096)


class Metrics:
    """All of it, in a registry of its own."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        self.requests = Counter(
            "retrace_requests", "Requests answered.", ["surface", "stream", "status"], registry=registry
        )
        self.verdicts = Counter(
            "retrace_verdicts", "Findings of rules.", ["side", "rule", "reason", "action"], registry=registry
        )
        self.exchanges = Counter(
            "retrace_exchanges",
            "Exchanges by their worst verdict.",
            ["surface", "verdict"],
            registry=registry,
        )
        self.ttft = Histogram(
            "retrace_time_to_first_token_seconds",
            "Request until the first piece of the answer left.",
            ["surface"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.duration = Histogram(
            "retrace_request_duration_seconds",
            "Request until its answer had left.",
            ["surface"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.overhead = Histogram(
            "retrace_overhead_seconds",
            "The gateway's own time in a request.",
            ["surface"],
            buckets=_OWN_SECONDS,
            registry=registry,
        )
        self.holdback = Histogram(
            "retrace_holdback_chars",
            "Most characters a stream held back at once.",
            ["surface"],
            buckets=_CHARS,
            registry=registry,
        )
        self.tokens = Counter(
            "retrace_tokens", "Tokens as the upstream counted them.", ["tenant", "kind"], registry=registry
        )
        self.in_flight = Gauge(
            "retrace_in_flight", "Requests on their way.", registry=registry, multiprocess_mode="livesum"
        )
        self.gone = Counter("retrace_client_gone", "Clients that left before the end.", ["surface"], registry=registry)
        self.upstream_errors = Counter(
            "retrace_upstream_errors", "What went wrong upstream.", ["backend", "kind"], registry=registry
        )
        self.broken = Counter("retrace_guard_broken", "Checks that failed at work.", ["rule"], registry=registry)
        self.probes = Counter(
            "retrace_probes", "Questions of rules that take their time, by answer.", ["rule", "said"], registry=registry
        )
        self.probe_seconds = Histogram(
            "retrace_probe_seconds",
            "How long such a question took.",
            ["rule"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.captures = Counter(
            "retrace_captures",
            "Captures by what became of them, and why it should.",
            ["verdict", "reason"],
            registry=registry,
        )
        self.injected = Counter(
            "retrace_injected_tokens", "Tokens of donors that the engine reused.", ["mode"], registry=registry
        )
        self.recomputed = Counter(
            "retrace_recomputed_tokens", "Tokens of donors that it computed anew.", ["mode"], registry=registry
        )
        self.lookups = Counter("retrace_lookups", "Searches for a donor.", ["result"], registry=registry)
        self.lookup_seconds = Histogram(
            "retrace_lookup_seconds",
            "Hashing a request and searching for its donor.",
            buckets=_OWN_SECONDS,
            registry=registry,
        )
        self.store_faults = Counter(
            "retrace_store_faults", "What went wrong with the store of captures.", ["kind"], registry=registry
        )
        self.store_up = Gauge(
            "retrace_store_up",
            "1 if captures can be found again.",
            registry=registry,
            multiprocess_mode="livemin",
        )
        self.declined = Counter("retrace_declined", "Donors the engine declined.", ["reason"], registry=registry)
        self.rewinds = Counter(
            "retrace_rewinds",
            "Answers cut back, by why and to which kind of anchor.",
            ["reason", "anchor"],
            registry=registry,
        )
        self.wasted = Counter(
            "retrace_wasted_tokens", "Tokens of answers that were cut away.", ["reason"], registry=registry
        )
        self.refined = Counter(
            "retrace_refined",
            "Answers that could have been read once more, by what became of them and why.",
            ["outcome", "why"],
            registry=registry,
        )
        self.refine_seconds = Histogram(
            "retrace_refine_seconds",
            "From an answer's end to its correction.",
            ["outcome"],
            buckets=_SECONDS,
            registry=registry,
        )
        self.refine_tokens = Counter(
            "retrace_refine_tokens",
            "Tokens of second readings; cached ones are among the prompt's.",
            ["tenant", "kind"],
            registry=registry,
        )
        self.tiers = Counter(
            "retrace_tier_decisions", "What tiers said of answers.", ["tier", "decision"], registry=registry
        )
        self.corrections = Counter(
            "retrace_corrections", "Corrections proposed, by what became of them.", ["fate"], registry=registry
        )
        self.refine_cached = Counter(
            "retrace_refine_cache", "Searches for an answer read before.", ["result"], registry=registry
        )
        self.review_queue = Counter(
            "retrace_review_queue",
            "Answers for a person to look at, by what became of them.",
            ["event"],
            registry=registry,
        )
        self.refine_backlog = Counter(
            "retrace_refine_backlog", "Answers to be read when little is going on.", ["event"], registry=registry
        )
        self.refine_up = Gauge(
            "retrace_refine_up",
            "1 if second readings are made, 0 while the breaker is open.",
            registry=registry,
            multiprocess_mode="livemin",
        )
        self.reloads = Counter("retrace_reloads", "Configurations read, by outcome.", ["result"], registry=registry)
        self.reload_ok = Gauge(
            "retrace_reload_ok",
            "1 if the files on disk are what is in force.",
            registry=registry,
            multiprocess_mode="livemin",
        )
        self._child = lru_cache(maxsize=4096)(lambda metric, *labels: metric.labels(*labels))
        self._exchange = lru_cache(maxsize=1024)(self._exchange_children)

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

    def client_gone(self, surface: str) -> None:
        self._child(self.gone, surface).inc()

    def guard_broken(self, rule: str) -> None:
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

    def reloaded(self, ok: bool) -> None:
        self._child(self.reloads, "ok" if ok else "failed").inc()
        self.reload_ok.set(1 if ok else 0)

    def page(self) -> bytes:
        """The text that Prometheus scrapes, over all workers."""
        if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
            return generate_latest(self._registry)
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)
