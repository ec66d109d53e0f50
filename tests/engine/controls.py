"""The plugin with ways to do it wrong, for benches that must show that doing it right matters.

A donor whose name begins with `unrotated-` is spliced without its keys being moved to their new positions; for one that
begins with `wrong-` the records of another capture, `other-` and the rest of the name, are put in its place. Every
other donor is treated as ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from gateway.kv.connector import RetraceConnector as Plugin
from gateway.kv.desk import Load
from gateway.kv.inject import Injector
from gateway.kv.pool import Pool
from gateway.kv.rope import Rope
from gateway.kv.worker import Looked, Worker


class Contrary(Injector):
    """Loads what the names of donors ask for."""

    def load(self, load: Load) -> None:
        if load.donor.startswith("wrong-"):
            load = load._replace(donor="other-" + load.donor.removeprefix("wrong-"))
        if not load.donor.startswith("unrotated-"):
            super().load(load)
            return
        kept = self._ropes
        self._ropes = [Rope(torch.zeros_like(rope.frequencies), rope.neox) for rope in kept or ()]
        try:
            super().load(load)
        finally:
            self._ropes = kept


class ContraryWorker(Worker):
    """A worker with a contrary injector."""

    def look(self, config: Any, kv_config: Any, caches: Mapping[str, Any]) -> Looked:
        looked = super().look(config, kv_config, caches)
        if self.injector:
            self.injector.__class__ = Contrary
        return looked


class RetraceConnector(Plugin):
    """The plugin with a contrary worker."""

    def hands(self, pool: Pool) -> Worker:
        return ContraryWorker(pool, self.counts, self.shield, self._scribe)
