"""Which exchanges are traced: a share of them, those of callers who have decided so, and never too many in a second."""

from __future__ import annotations

import random
from typing import Literal

from gateway.traceparent import Caller
from gateway.tracing.file import Tracing

Chosen = Literal["traced", "left", "limited"]

_WHOLE = 1 << 64


class Sampler:
    """A token bucket behind a choice. Time is passed in, in seconds of any clock that never goes back."""

    def __init__(self, spec: Tracing) -> None:
        self._spec = spec
        self._most = max(spec.per_second, 1.0)
        self._left = self._most
        self._at = 0.0

    def choose(self, caller: Caller | None, now: float) -> Chosen:
        """`limited`: it would be traced if there were not too many."""
        if not self._wanted(caller):
            return "left"
        self._left = min(self._left + max(now - self._at, 0.0) * self._spec.per_second, self._most)
        self._at = now
        if self._left < 1.0:
            return "limited"
        self._left -= 1.0
        return "traced"

    def _wanted(self, caller: Caller | None) -> bool:
        if caller is None:
            return random.random() < self._spec.sample
        if self._spec.parent_based:
            return caller.sampled
        return caller.trace % _WHOLE < self._spec.sample * _WHOLE  # as OpenTelemetry's TraceIdRatioBased: all agree
