"""The witness who writes the audit log. What he does on the road of a request is to put a few fields on a desk,
from which another process has them.

Nothing that goes wrong here reaches a request: it is counted (`retrace_audit`) and told in the log's next line.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from functools import partial
from time import perf_counter
from typing import Any

from gateway.audit import record
from gateway.audit._desk import Desk, Line
from gateway.audit._kept import Kept, kept
from gateway.audit._letters import Standing
from gateway.audit._words import Policy
from gateway.audit.looked import Looked
from gateway.audit.settings import Auditing
from gateway.checks import Check
from gateway.config import House
from gateway.ledger import Trip
from gateway.metrics import Metrics
from gateway.rules import Rule
from gateway.types import Action, Exchange, Reuse
from gateway.witness import Witness

log = logging.getLogger(__name__)


class Auditor(Witness):
    """Writes while the configuration says so (`audit`); its folder and its ways may change while all goes on."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._spec: Auditing | None = None
        self._desk: Desk | None = None
        self._looked = Looked(())
        self._revision = ""  # of the configuration that is in force
        self._breaks = 0  # of checks, when it came into force

    async def apply(self, house: House) -> None:
        spec = house.file.audit
        told = await asyncio.to_thread(record.house, house) if spec is not None else {}
        if spec != self._spec:
            await self.stop()
            self._spec = spec
            if spec is not None:
                self._desk = Desk(house.folder / spec.folder, spec.bounds, spec.queue, self._metrics.audit)
                self._desk.start()
        if self._desk is not None and spec is not None:
            self._revision, self._breaks = house.revision, self._metrics.breaks
            self._looked = Looked(house.rules.values())
            self._desk.stand(Standing(Policy(spec.text, spec.key, masking(house.rules.values())), told))

    def wants(self, exchange: Exchange, house: House) -> bool:
        return self._desk is not None and self._spec is not None and self._spec.text != "none"

    def over(self, trip: Trip) -> None:
        if self._desk is not None and trip.exchange is not None:
            self._desk.put(partial(self._told, trip, trip.exchange, perf_counter() - trip.began))

    def _told(self, trip: Trip, exchange: Exchange, seconds: float) -> Line:
        """What is handed over of an exchange."""
        spec = self._spec
        if not trip.recorded or spec is None or spec.text == "none":
            return record.row(trip, exchange, seconds)
        words = kept(exchange.texts, trip.said, spec.text_chars)
        return record.row(trip, exchange, seconds, words, self._clean(trip, exchange, words))

    def _clean(self, trip: Trip, exchange: Exchange, words: Kept) -> bool:
        """Whether there is nothing to redact. What was refused may not have been judged, or by other rules; a check
        that broke has looked at nothing, and may not say so."""
        if trip.status >= 400 or trip.revision != self._revision or self._metrics.breaks != self._breaks:
            return False
        if trip.draft.findings or trip.draft.refined:
            return False
        return self._looked.clean(exchange, frozenset([role for role, _ in words.asked]))

    def reuse(self, reuse: Reuse) -> None:
        if self._desk is not None:
            self._desk.put(partial(record.reuse, reuse))

    def note(self, kind: str, told: Mapping[str, Any]) -> None:
        """Write down what the gateway did to itself, such as an act of a controller. `kind` is a short stable word, and
        `told` can be JSON."""
        if self._desk is not None:
            self._desk.put(lambda: {**told, "kind": kind})

    async def stop(self) -> None:
        desk, self._desk = self._desk, None
        if desk is not None:
            await desk.stop()


def masking(rules: Iterable[Rule]) -> list[Check]:
    """What rules that mask look for."""
    return [rule.check for rule in rules if rule.action is Action.MASK and isinstance(rule.check, Check)]
