"""The plugin with faults that a test can switch on: a file names the calls that are to fail.

RETRACE_FAULTS is the file's path; the engine reads it at each call, so a running one can be made to fail and to stop
failing. What raises is what the hooks call, so that the shields around the hooks are what is tested.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gateway.kv.capture import Recorder
from gateway.kv.connector import RetraceConnector as Plugin
from gateway.kv.desk import Desk
from gateway.kv.inject import Injector
from gateway.kv.pool import Pool
from gateway.kv.worker import Looked, Worker
from tests.engine.armed import DESK, armed


def failing(kind: type, *names: str) -> type:
    """A kind whose methods `names` raise when they are armed."""

    def wrapped(name: str) -> Callable[..., Any]:
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            if f"{kind.__name__}.{name}" in armed():
                raise RuntimeError(f"{kind.__name__}.{name} fails on purpose")
            return getattr(kind, name)(self, *args, **kwargs)

        return call

    return type(f"Failing{kind.__name__}", (kind,), {name: wrapped(name) for name in names})


class FailingWorker(Worker):
    """A worker whose parts can fail."""

    def look(self, config: Any, kv_config: Any, caches: Mapping[str, Any]) -> Looked:
        looked = super().look(config, kv_config, caches)
        if self.injector and self.recorder:
            self.injector.__class__ = failing(Injector, "load")
            self.recorder.__class__ = failing(Recorder, "record")
        return looked


class RetraceConnector(Plugin):
    """The plugin, made of parts that can fail."""

    def _open_desk(self, pool: Pool, told: Looked) -> None:
        super()._open_desk(pool, told)
        if self.desk:
            self.desk.__class__ = failing(Desk, *DESK)

    def hands(self, pool: Pool) -> Worker:
        return FailingWorker(pool, self.counts, self.shield, self._scribe)
