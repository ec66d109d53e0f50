"""What the plugin counts, as plain numbers: counted in any thread, taken once a step, summed over processes."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping

Table = dict[str, dict[str, float]]  # what -> label -> amount

# What is counted: its label, and what it means. Prometheus knows each as `retrace_kv_<name>_total`.
COUNTERS = {
    "captured_tokens": ("", "Tokens whose KV was written into the pool."),
    "captures_cut": ("why", "Captures that ended before their request did."),
    "injected_tokens": ("mode", "Tokens whose prefill was skipped."),
    "recomputed_tokens": ("", "Tokens of injected spans that were computed all the same."),
    "declined": ("reason", "Requests that named a donor and got nothing of it."),
    "faults": ("hook", "Mistakes of the plugin's own; each fell back to the engine's ordinary way."),
    "loads": ("", "Parts of captures loaded."),
    "load_seconds": ("", "Time spent loading them."),
}

# What is measured now and then: the latest amount stands.
GAUGES = {
    "pool_bytes": ("", "Bytes of KV in the pool's shared memory."),
    "pool_disk_bytes": ("", "Bytes of KV in the pool's second tier, on disk."),
    "pool_captures": ("state", "Captures in the pool."),
}


class Counts:
    """Amounts since they were last taken."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._table: Table = {}

    def add(self, what: str, label: str = "", amount: float = 1) -> None:
        with self._lock:
            row = self._table.setdefault(what, {})
            row[label] = row.get(label, 0) + amount

    def set(self, what: str, label: str, amount: float) -> None:
        with self._lock:
            self._table.setdefault(what, {})[label] = amount

    def take(self) -> Table:
        """All of it; from here on it is counted anew."""
        with self._lock:
            table, self._table = self._table, {}
        return table


def merged(first: Mapping[str, Mapping[str, float]], second: Mapping[str, Mapping[str, float]]) -> Table:
    """The sum of two tables, the second the later one."""
    table: Table = {what: dict(row) for what, row in first.items()}
    for what, row in second.items():
        for label, amount in row.items():
            kept = table.setdefault(what, {})
            kept[label] = amount if what in GAUGES else kept.get(label, 0) + amount
    return table


def flat(table: Mapping[str, Mapping[str, float]]) -> Iterator[tuple[str, str, float]]:
    """Every amount with its name and label, for what is known."""
    for what, row in table.items():
        if what in COUNTERS or what in GAUGES:
            for label, amount in row.items():
                yield what, label, amount
