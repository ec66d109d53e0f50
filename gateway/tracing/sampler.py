"""Which exchanges are traced: a share of them, those of callers who have decided so, and never too many in a second."""

from __future__ import annotations

import random

from gateway.traceparent import Caller
from gateway.tracing.file import Tracing

_WHOLE = 1 << 64


class Sampler:
    """A token bucket, and a choice among those for whom there is a token. Time is passed in, in seconds of any clock
    that never goes back."""

    def __init__(self, spec: Tracing) -> None:
        self._spec = spec
        self._most = max(spec.per_second, 1.0)
        self._left = self._most
        self._at = 0.0
        self._again = 0.0  # when there is a token again

    def has_room(self, now: float) -> bool:
        """Whether one more may be traced now. Of those who come when there is no room nothing else is asked."""
        if now < self._again:
            return False
        self._left = min(self._left + max(now - self._at, 0.0) * self._spec.per_second, self._most)
        self._at = now
        if self._left < 1.0:
            self._again = now + (1.0 - self._left) / self._spec.per_second
        return self._left >= 1.0

    def chosen(self, caller: Caller | None) -> bool:
        """Whether this one is traced, now that there is room; then it has taken it."""
        wanted = self._wanted(caller)
        self._left -= wanted
        return wanted

    def _wanted(self, caller: Caller | None) -> bool:
        if caller is None:
            return random.random() < self._spec.sample
        if self._spec.parent_based:
            return caller.sampled
        return caller.trace % _WHOLE < self._spec.sample * _WHOLE  # as OpenTelemetry's TraceIdRatioBased: all agree
