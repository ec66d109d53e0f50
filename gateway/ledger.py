"""What is booked of one request: when it came, the gateway's own time, and what became of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from time import perf_counter, time
from typing import Any, TypeAlias

import orjson

from gateway.marks import Trace
from gateway.metrics import Metrics
from gateway.types import Draft, Exchange, Outcome

log = logging.getLogger(__name__)

Saying: TypeAlias = Callable[[], Mapping[int, str]]


@dataclass(slots=True)
class Trip:
    """One request on its way; the server opens it, the pipeline fills it, `book` closes it."""

    began: float
    surface: str = "unmatched"
    status: int = 500
    own: float = 0.0
    first: float | None = None
    held: int = 0
    exchange: Exchange | None = None
    draft: Draft = field(default_factory=Draft)
    at: float = field(default_factory=time)  # when it came, in seconds since 1970
    size: int = 0  # bytes of its body
    revision: str = ""  # of the configuration it was judged by
    tried: tuple[str, ...] = ()  # reason codes of whose policies it got one that is being tried
    backend: str = ""  # who was asked
    seconds: float = 0.0  # how long it took, once it is over
    recorded: bool = False  # somebody wants its words: then `asked` and `said` are filled
    asked: Mapping[str, Any] | None = None  # the body that was sent upstream, masked as the rules want it
    captures: list[dict[str, Any]] = field(default_factory=list)  # that engines were asked to make, with their donors
    trace: Trace | None = None  # what its stages note, if it is traced
    _start: float = 0.0
    _said: Mapping[int, str] | Saying = field(default_factory=dict)

    @property
    def heard(self) -> bool:
        """Whether it is known what the client reads."""
        return bool(self._said)

    @property
    def said(self) -> Mapping[int, str]:
        """What the client reads of each choice's answer. Set as what tells it, it is asked when it is wanted."""
        if callable(self._said):
            self._said = self._said()
        return self._said

    @said.setter
    def said(self, said: Mapping[int, str] | Saying) -> None:
        self._said = said

    def __enter__(self) -> None:
        """Time spent within is the gateway's own."""
        self._start = perf_counter()

    def __exit__(self, *_fault: object) -> None:
        self.own += perf_counter() - self._start

    def sent(self) -> None:
        """A piece of the answer leaves."""
        if self.first is None:
            self.first = perf_counter() - self.began

    def waits(self, held: int) -> None:
        """Nothing leaves: `held` characters wait."""
        if held > self.held:
            self.held = held


def book(trip: Trip, metrics: Metrics, seen: Iterable[Callable[[Trip], None]] = ()) -> None:
    """The request is over: count it; log it if a rule saw something, or if everything is logged; tell who asked."""
    trip.seconds = perf_counter() - trip.began
    for tell in seen:
        tell(trip)
    exchange, draft = trip.exchange, trip.draft
    stream = exchange is not None and exchange.stream
    metrics.observe_exchange(trip.surface, stream, trip.status, trip.seconds, trip.own)
    if exchange is None:
        return
    metrics.observe_verdict(trip.surface, draft.verdict)
    if trip.first is not None:
        metrics.observe_stream(trip.surface, trip.first, trip.held)
    metrics.observe_usage(exchange.principal.tenant, draft.usage)
    touched = any(one.outcome is not Outcome.UNTOUCHED for one in draft.refined.values())
    level = logging.INFO if draft.findings or touched else logging.DEBUG
    if log.isEnabledFor(level):
        log.log(level, "%s", _record(trip, exchange).decode())


def _record(trip: Trip, exchange: Exchange) -> bytes:
    """One line of JSON on an exchange: who, what, how it ended. No text of it, no secret."""
    draft = trip.draft
    return orjson.dumps(
        {
            "id": exchange.id,
            "surface": exchange.surface,
            "tenant": exchange.principal.tenant,
            "model": exchange.model,
            "stream": exchange.stream,
            "status": trip.status,
            "verdict": draft.verdict.word,
            "findings": [[f.rule, f.reason, f.action.value] for f in draft.findings],
            "finish": {str(choice): reason for choice, reason in draft.finish.items()},
            "refined": {
                str(choice): [one.outcome.value, one.why, len(one.corrections)] for choice, one in draft.refined.items()
            },
            "usage": [draft.usage.prompt, draft.usage.completion] if draft.usage else None,
            "seconds": round(trip.seconds, 4),
        }
    )
