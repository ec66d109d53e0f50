"""Real engines for tests and benches: one at a time, the one that is wanted, and in the end none that we started."""

from __future__ import annotations

import os

import pytest

from deploy.setup import engine, process
from deploy.vllm.launch import Launch


def skip_unless_ours() -> None:
    """Skip a test that must start engines of its own, where one is named that is not ours."""
    if os.environ.get("RETRACE_ENGINE_URL"):
        pytest.skip("needs engines of our own; RETRACE_ENGINE_URL is set")


class Engines:
    """The engine of this clone, as one test after the other wants it."""

    def __init__(self) -> None:
        self._ours = False

    def get(self, wanted: Launch | None = None) -> engine.Engine:
        """An engine that answers: the one that runs if it is what is wanted, else it makes room for another."""
        running = engine.ensure(wanted=wanted, replace=True)
        self._ours |= running.started_by_us
        return running

    def restarted(self, wanted: Launch | None = None) -> engine.Engine:
        """The same in new processes, at the same address."""
        self.get(wanted)
        service = process.find(engine.NAME)
        if service is None:
            raise RuntimeError("an engine that is not ours can't be started anew: unset RETRACE_ENGINE_URL")
        process.stop(service)
        return engine.ensure(service.port, wanted)

    def close(self) -> None:
        """Stop what we started. What ran before us goes on, unless it had to make room."""
        service = process.find(engine.NAME)
        if self._ours and service is not None:
            process.stop(service)
            engine.forget()
