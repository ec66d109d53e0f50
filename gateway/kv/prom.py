"""The plugin's counts on their way through vLLM's own metrics: gathered in the engine, shown on its /metrics."""

from __future__ import annotations

from typing import Any

from gateway.kv.airlock import PromBase, StatsBase
from gateway.kv.stats import COUNTERS, GAUGES, flat, merged


class RetraceStats(StatsBase):
    """A table of counts (stats.Counts), as vLLM passes it between processes."""

    def reset(self) -> None:
        self.data: dict[str, Any] = {}

    def aggregate(self, other: Any) -> RetraceStats:
        return RetraceStats(data=merged(self.data, other.data))

    def reduce(self) -> dict[str, float]:
        return {f"{what}[{label}]" if label else what: amount for what, label, amount in flat(self.data)}

    def is_empty(self) -> bool:
        return not self.data


class RetraceProm(PromBase):
    """`retrace_kv_*` on the engine's /metrics."""

    def __init__(self, config: Any, kinds: Any, labels: list[str], per_engine: dict[int, list[object]]) -> None:
        super().__init__(config, kinds, labels, per_engine)
        self._metrics = {
            what: (self._counter_cls if what in COUNTERS else self._gauge_cls)(
                name=f"retrace_kv_{what}",
                documentation=meaning,
                labelnames=[*labels, *([label] if label else [])],
            )
            for what, (label, meaning) in {**COUNTERS, **GAUGES}.items()
        }

    def observe(self, transfer_stats_data: dict[str, Any], engine_idx: int = 0) -> None:
        engine = self.per_engine_labelvalues[engine_idx]
        for what, label, amount in flat(transfer_stats_data):
            metric = self._metrics[what].labels(*engine, *([label] if (COUNTERS | GAUGES)[what][0] else []))
            if what in GAUGES:
                metric.set(amount)
            else:
                metric.inc(amount)
