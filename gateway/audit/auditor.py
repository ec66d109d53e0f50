"""The witness who writes the audit log. What he does on the road of a request is to put a small record before a thread.

Nothing that goes wrong here reaches a request: it is counted (`retrace_audit`) and told in the log's next line.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from functools import partial
from time import perf_counter
from typing import Any

from gateway.audit import record
from gateway.audit._writer import Record, Writer
from gateway.audit.settings import Auditing
from gateway.audit.words import Words
from gateway.config import House
from gateway.ledger import Trip
from gateway.metrics import Metrics
from gateway.types import Exchange, Reuse
from gateway.witness import Witness

log = logging.getLogger(__name__)


class Auditor(Witness):
    """Writes while the configuration says so (`audit`); its folder and its ways may change while all goes on."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._spec: Auditing | None = None
        self._writer: Writer | None = None
        self._words: Words | None = None
        self._breaks = 0  # of checks, when this configuration came into force

    async def apply(self, house: House) -> None:
        spec = house.file.audit
        if spec != self._spec:
            await self.stop()
            self._spec = spec
            if spec is not None:
                self._writer = Writer(house.folder / spec.folder, spec.bounds, spec.queue, self._metrics.audit)
                self._writer.start()
        if self._writer is not None and spec is not None:
            self._breaks = self._metrics.breaks
            self._words = await asyncio.to_thread(Words, spec, house.rules.values())
            self._writer.put(Record(await asyncio.to_thread(record.house, house), sticks=True))

    def wants(self, exchange: Exchange, house: House) -> bool:
        return self._writer is not None and self._spec is not None and self._spec.text != "none"

    def over(self, trip: Trip) -> None:
        writer, exchange, words = self._writer, trip.exchange, self._words
        if writer is None or exchange is None:
            return
        told = record.exchange(trip, exchange, perf_counter() - trip.began)
        if not trip.recorded or words is None:
            writer.put(Record(told))
            return
        draft, said = trip.draft, trip.said
        # What was refused may not have been judged; a check that broke has looked at nothing, and may not say so.
        judged = trip.status < 400 and self._metrics.breaks == self._breaks and not (draft.findings or draft.refined)
        clean = judged and words.clean(exchange)
        more = partial(words.told, exchange.texts, said, draft.findings, draft.refined, clean)
        size = record.sizes([*(text.text for text in exchange.texts), *said.values()])
        writer.put(Record(told, more, size))

    def reuse(self, reuse: Reuse) -> None:
        if self._writer is not None:
            self._writer.put(Record(record.reuse(reuse)))

    def note(self, kind: str, told: Mapping[str, Any]) -> None:
        """Write down what the gateway did to itself, such as an act of a controller. `kind` is a short stable word, and
        `told` can be JSON."""
        if self._writer is not None:
            self._writer.put(Record({**told, "kind": kind}))

    async def stop(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            await asyncio.to_thread(writer.stop)
