"""Every figure the gateway counts, each named once. Labels hold what the configuration bounds, no client's words.

With several worker processes prometheus_client keeps its values in files under PROMETHEUS_MULTIPROC_DIR (set before
this module is imported); a scrape of any worker then tells the sums of all.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
_OWN_SECONDS = (0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.5)
# Those that the conventions for generative AI want.
_GEN_AI_SECONDS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_GEN_AI_FIRST = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)
_GEN_AI_TOKENS = tuple(4**n for n in range(14))
_GEN_AI = ("gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model")
_CHARS = (0, 8, 16, 32, 64, 128, 256, 512, 1024, 4096)


class Vocabulary:
    """All of it, in a registry of its own."""

    def __init__(self) -> None:  # noqa: PLR0915 - a list of what is counted
        self.registry = registry = CollectorRegistry()
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
        self.backend_up = Gauge(
            "retrace_backend_up",
            "1 if a replica of the backend is healthy; NaN once the backend is gone from the files.",
            ["backend"],
            registry=registry,
            multiprocess_mode="livemostrecent",
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
        self.rewinds_spent = Counter(
            "retrace_rewinds_spent",
            "Findings that call for a rewind and could have none (any more), by what they meant instead.",
            ["reason", "action"],
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
        self.audited = Counter(
            "retrace_audit",
            "Lines of the audit log: written, or lost; and tries to write that failed.",
            ["event"],
            registry=registry,
        )
        self.acts = Counter(
            "retrace_acts",
            "What the controller did, or proposed, or could not do.",
            ["act", "code", "how"],
            registry=registry,
        )
        self.hand = Gauge(
            "retrace_hand",
            "What the controller holds in force: fallback and breaker 0 or 1, codes that are off, bits loosened.",
            ["what"],
            registry=registry,
            multiprocess_mode="livemax",
        )
        self.gen_ai_duration = Histogram(
            "gen_ai_server_request_duration_seconds",
            "Request until its answer had left.",
            [*_GEN_AI, "error_type"],
            buckets=_GEN_AI_SECONDS,
            registry=registry,
        )
        self.gen_ai_first = Histogram(
            "gen_ai_server_time_to_first_token_seconds",
            "Request until the first piece of a streamed answer had left.",
            [*_GEN_AI],
            buckets=_GEN_AI_FIRST,
            registry=registry,
        )
        self.gen_ai_tokens = Histogram(
            "gen_ai_client_token_usage",
            "Tokens of a request and of its answer, as the endpoint counted them.",
            [*_GEN_AI, "gen_ai_token_type"],
            buckets=_GEN_AI_TOKENS,
            registry=registry,
        )
        self.traces = Counter(
            "retrace_trace",
            "Traces: sent, dropped (the queue was full), failed (not taken), limited (came when there were too many).",
            ["event"],
            registry=registry,
        )
        self.figures = Gauge(
            "retrace_figure",
            "What reuse gives and costs, by repeats without it: the value and its bounds; NaN while there is none.",
            ["figure", "of"],
            registry=registry,
            multiprocess_mode="livemostrecent",
        )
        self.figure_samples = Gauge(
            "retrace_figure_samples",
            "Of how many samples a figure is.",
            ["figure"],
            registry=registry,
            multiprocess_mode="livemostrecent",
        )
        self.shadows = Counter(
            "retrace_shadow", "Exchanges drawn to be repeated, by what came of it.", ["result"], registry=registry
        )
        self.shadow_tokens = Counter(
            "retrace_shadow_tokens", "Tokens of repeats, no client's.", ["side"], registry=registry
        )
        self.policy_unconfirmed = Gauge(
            "retrace_policy_unconfirmed",
            "1 while nothing is reused of a reason code, since its rules changed and nobody has confirmed its policy.",
            ["reason"],
            registry=registry,
            multiprocess_mode="livemax",
        )
        self.policy_faults = Counter(
            "retrace_policy_faults",
            "The state file of policies could not be read, or not be written.",
            ["kind"],
            registry=registry,
        )
        self.trials = Counter(
            "retrace_trials", "What happened to changed policies of reuse.", ["event"], registry=registry
        )
        self.reloads = Counter("retrace_reloads", "Configurations read, by outcome.", ["result"], registry=registry)
        self.reload_ok = Gauge(
            "retrace_reload_ok",
            "1 if the files on disk are what is in force.",
            registry=registry,
            multiprocess_mode="livemin",
        )
