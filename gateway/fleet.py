"""The living backends of the house in force: a reload keeps those that did not change, with all their connections."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import lru_cache

from gateway.backends import Backend, BackendSpec, Observe
from gateway.errors import BadRequest, Unavailable
from gateway.globs import fits


class Fleet:
    """Which backend serves a model."""

    def __init__(self, observe: Observe) -> None:
        self._observe = observe
        self._living: list[tuple[BackendSpec, Backend]] = []
        self._retiring: dict[asyncio.Task[None], Backend] = {}
        self._found = lru_cache(maxsize=1024)(self._find)

    async def apply(self, specs: Sequence[BackendSpec], linger: float = 900.0) -> None:
        """Bring the backends in line with `specs`; one no longer named lives on for `linger` seconds."""
        old = self._living
        kept = {id(spec): pair for spec in specs for pair in old if pair[0] == spec}
        new = [kept.get(id(spec)) or (spec, spec.connect(self._observe)) for spec in specs]
        for _, backend in new:
            if all(backend is not living for _, living in old):
                await backend.start()
        self._living = new
        self._found.cache_clear()
        for _, backend in old:
            if all(backend is not living for _, living in new):
                task = asyncio.create_task(_retire(backend, linger))
                self._retiring[task] = backend
                task.add_done_callback(self._retiring.pop)

    async def stop(self) -> None:
        leaving = [*self._retiring.values(), *(backend for _, backend in self._living)]
        for task in self._retiring:
            task.cancel()
        await asyncio.gather(*self._retiring, *(backend.stop() for backend in leaving), return_exceptions=True)

    def serving(self, model: str) -> tuple[str, Backend]:
        """The first backend that serves `model`, and its name; BadRequest if none does."""
        found = self._found(model)
        if not found:
            raise BadRequest("no backend serves this model; /v1/models lists what there is", param="model")
        return found

    def named(self, name: str) -> tuple[str, Backend]:
        """The backend of that name; Unavailable if a reload has just taken it away."""
        for spec, backend in self._living:
            if spec.name == name:
                return name, backend
        raise Unavailable(f"there is no backend {name} any more")

    def first(self) -> tuple[str, Backend]:
        """The first backend, for what asks of no model."""
        spec, backend = self._living[0]
        return spec.name, backend

    def name(self, model: str) -> str:
        """The name of the backend that serves `model`, for figures: also when a reload has just taken it away."""
        found = self._found(model)
        return found[0] if found else "retired"

    def _find(self, model: str) -> tuple[str, Backend] | None:
        for spec, backend in self._living:
            if fits(model, spec.models):
                return spec.name, backend
        return None

    def health(self) -> dict[str, bool]:
        return {spec.name: backend.healthy() for spec, backend in self._living}

    def patched(self) -> dict[str, bool]:
        """Which backends have a replica with our plugin, so that retrace is on."""
        return {spec.name: backend.patched for spec, backend in self._living}


async def _retire(backend: Backend, linger: float) -> None:
    await asyncio.sleep(linger)
    await backend.stop()
