"""The witness who writes the audit log. What he does on the road of a request is to put a few fields on a desk,
from which another process has them.

Nothing that goes wrong here reaches a request: it is counted (`retrace_audit`) and told in the log's next line.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Mapping
from typing import Any

from gateway.audit import record
from gateway.audit._desk import Desk
from gateway.audit._kept import kept
from gateway.audit._letters import Standing
from gateway.audit._row import Fields
from gateway.audit._words import Policy
from gateway.audit.looked import Looked
from gateway.audit.settings import Auditing
from gateway.checks import Check
from gateway.config import House
from gateway.ledger import Trip
from gateway.metrics import Metrics
from gateway.rules import Rule
from gateway.types import Action, Exchange, Reuse, Text
from gateway.witness import Witness

EASY = 4  # times as much as there is room for is handed over as it is: the clerk takes out what is too much

log = logging.getLogger(__name__)


class Auditor(Witness):
    """Writes while the configuration says so (`audit`); its folder and its ways may change while all goes on."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._spec: Auditing | None = None
        self._desk: Desk[Trip] | None = None
        self._revision = ""  # of the configuration that is in force
        self._breaks = 0  # of checks, when it came into force

    async def apply(self, house: House) -> None:
        spec = house.file.audit
        told = await asyncio.to_thread(record.house, house) if spec is not None else {}
        if spec != self._spec:
            await self.stop()
            self._spec = spec
            if spec is not None:
                self._desk = Desk(house.folder / spec.folder, spec.bounds, spec.queue, self._told, self._metrics.audit)
                self._desk.start()
        if self._desk is not None and spec is not None:
            self._revision, self._breaks = house.revision, self._metrics.breaks
            rules = house.rules.values()
            self._desk.stand(
                Standing(Policy(spec.text, spec.key, masking(rules), Looked.by(rules), spec.text_chars), told)
            )

    def wants(self, exchange: Exchange, house: House) -> bool:
        return self._desk is not None and self._spec is not None and self._spec.text != "none"

    def over(self, trip: Trip) -> None:
        if self._desk is not None and trip.exchange is not None:
            self._desk.put(trip)

    def _told(self, trip: Trip) -> Fields:
        """What is handed over of an exchange."""
        spec, exchange = self._spec, trip.exchange
        assert exchange is not None, "else it was not put"
        if not trip.recorded or spec is None or spec.text == "none":
            return record.row(trip, exchange)
        # What was refused may not have been judged; a check that broke has looked at nothing, and may not say so.
        judged = trip.status < 400 and trip.revision == self._revision and self._metrics.breaks == self._breaks
        said = trip.said
        if trip.size <= EASY * spec.text_chars:
            return record.row(trip, exchange, said, judged=judged)
        words = kept(exchange.texts, said, spec.text_chars)
        exchange = exchange._replace(texts=tuple(Text((), role, text) for role, text in words.asked))
        return record.row(trip, exchange, words.said, words.left_out, judged)

    def reuse(self, reuse: Reuse) -> None:
        if self._desk is not None:
            self._desk.put(record.reuse(reuse))

    def note(self, kind: str, told: Mapping[str, Any]) -> None:
        """Write down what the gateway did to itself, such as an act of a controller. `kind` is a short stable word, and
        `told` can be JSON."""
        if self._desk is not None:
            self._desk.put({**told, "kind": kind})

    async def stop(self) -> None:
        desk, self._desk = self._desk, None
        if desk is not None:
            await desk.stop()


def masking(rules: Iterable[Rule]) -> list[Check]:
    """What rules that mask look for."""
    return [rule.check for rule in rules if rule.action is Action.MASK and isinstance(rule.check, Check)]
