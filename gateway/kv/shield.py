"""Nothing of ours may end the engine: whatever goes wrong inside a shield is caught, counted, and told once a minute.

    with shield("start_load_kv") as attempt:
        ...
    if attempt.failed:
        ...  # the engine's ordinary way

The only place that catches everything.
"""

from __future__ import annotations

import logging
import time
from types import TracebackType

from gateway.kv.stats import Counts

log = logging.getLogger(__name__)

QUIET_SECONDS = 60.0


class Attempt:
    """One try under a shield."""

    def __init__(self, shield: Shield, hook: str) -> None:
        self._shield, self._hook = shield, hook
        self.fault: Exception | None = None

    @property
    def failed(self) -> bool:
        return self.fault is not None

    def __enter__(self) -> Attempt:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(fault, Exception):
            return False  # nothing went wrong, or the process is being ended
        self.fault = fault
        self._shield.note(self._hook, fault)
        return True


class Shield:
    """Counts the faults of each hook; the trace of one goes to the log once a minute."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._told: dict[str, float] = {}

    def __call__(self, hook: str) -> Attempt:
        return Attempt(self, hook)

    def note(self, hook: str, fault: Exception) -> None:
        self._counts.add("faults", hook)
        now = time.monotonic()
        if now - self._told.get(hook, -QUIET_SECONDS) >= QUIET_SECONDS:
            self._told[hook] = now
            log.error("the retrace plugin failed in %s; the engine goes on without it", hook, exc_info=fault)
