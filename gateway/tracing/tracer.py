"""Who traces: decides when an exchange comes whether it is traced, and sends its spans off when it is over.

Whether whoever gathers them is slow, down or lying is seen by nobody but a counter (`retrace_trace`).
"""

from __future__ import annotations

import asyncio
import hmac
import os
import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from time import monotonic, perf_counter, time
from typing import TYPE_CHECKING, NamedTuple

from gateway import marks, traceparent
from gateway.config import House
from gateway.ledger import Trip
from gateway.marks import Mark, Trace
from gateway.metrics import Metrics
from gateway.tracing._sender import Sender
from gateway.tracing.file import Tracing
from gateway.tracing.journey import Journey, Kin, Late, facts, journey
from gateway.tracing.sampler import Sampler
from gateway.tracing.spans import late, spans
from gateway.types import Exchange, Reuse
from gateway.witness import Witness

if TYPE_CHECKING:
    from gateway.tracing._otlp import Exporter

FLUSH = 2.0  # seconds that an ending may take to hand over what waits
SOON = 0.5  # seconds within which is counted who was not traced
MOST = 1024  # exchanges of which an engine may still tell something


class Tracer(Witness):
    """Traces exchanges as the configuration in force wants it; without `tracing` in it, none."""

    def __init__(self, metrics: Metrics, now: Callable[[], float] = monotonic) -> None:
        self._metrics, self._now = metrics, now
        self._spec: Tracing | None = None
        self._post: _Post | None = None
        self._kin: dict[str, str] = {}
        self._known: frozenset[str] = frozenset()
        self._past: OrderedDict[str, _Place] = OrderedDict()
        self._under_way: dict[int, tuple[Trip, Trace]] = {}
        self._limited = 0  # since they were counted
        self._secret = (os.environ.get("RETRACE_SALT") or secrets.token_hex(32)).encode()

    async def apply(self, house: House) -> None:
        backends = house.file.backends
        self._kin = {backend.name: backend.type for backend in backends}
        self._known = house.file.models
        if house.file.tracing == self._spec:
            return
        old, self._spec = self._post, house.file.tracing
        self._post = _Post(self._spec, self._metrics.traced) if self._spec else None
        if old is not None:
            await asyncio.to_thread(old.stop)

    async def stop(self) -> None:
        if self._post is not None:
            await asyncio.to_thread(self._post.stop)

    def enters(self, trip: Trip, sent: Mapping[str, str]) -> None:
        if self._post is None:
            return
        if not self._post.sampler.has_room(self._now()):
            self._leave()
            return
        caller = traceparent.caller(sent)
        if self._post.sampler.chosen(caller):
            trip.trace = trace = Trace(caller)
            self._under_way[id(trip)] = trip, trace
            marks.begin(trace)

    def _leave(self) -> None:
        """This one is not traced: on a busy gateway most are not, so that they are counted together."""
        if not self._limited:
            asyncio.get_running_loop().call_later(SOON, self._count_limited)
        self._limited += 1

    def _count_limited(self) -> None:
        self._metrics.traced("limited", self._limited)
        self._limited = 0

    def over(self, trip: Trip) -> None:
        trace = trip.trace
        if trace is None:
            return
        marks.begin(None)
        trace.over = True
        del self._under_way[id(trip)]
        if self._post is None or trip.surface == "unmatched":
            return
        exchange = trip.exchange
        if exchange is None:
            self._post.put(journey(trip, trace, Kin("", False)))
            return
        kin = Kin(self._kin.get(trip.backend, ""), exchange.model in self._known)
        self._post.put(journey(trip, trace, kin, self._session(exchange)))
        self._past[exchange.id] = _Place(trace.id, trace.root, trace.caller.state if trace.caller else "")
        if len(self._past) > MOST:
            self._past.popitem(last=False)

    def reuse(self, reuse: Reuse) -> None:
        place = self._past.get(reuse.exchange)
        if place is not None and self._post is not None:
            self._post.put(Late(*place, reuse, time()))
        for trip, trace in self._under_way.values() if place is None else ():
            if trip.exchange is not None and trip.exchange.id == reuse.exchange:
                at = perf_counter()
                trace.add(Mark("reuse", at, at, marks.new(64), trace.root, facts(reuse)))

    def _session(self, exchange: Exchange) -> str:
        """What a session is called in traces: the same for all that is said in it, and nothing of its name."""
        if not exchange.session:
            return ""
        named = f"{exchange.principal.tenant} {exchange.session}"
        return hmac.new(self._secret, named.encode(errors="surrogatepass"), "sha256").hexdigest()[:16]


class _Place(NamedTuple):
    """Where the late spans of an exchange belong."""

    trace: int
    root: int
    state: str


class _Post:
    """The way out of one configuration."""

    def __init__(self, spec: Tracing, count: Callable[[str, int], None]) -> None:
        from gateway.tracing._otlp import Exporter  # takes a quarter of a second, of those who trace

        self.sampler = Sampler(spec)
        self._exporter: Exporter = Exporter(spec)
        self._sender = Sender[Journey | Late](self._carry, spec.queue, count)
        self._sender.start()
        self.put = self._sender.put

    def stop(self) -> None:
        self._sender.stop(FLUSH)
        self._exporter.stop()

    def _carry(self, told: Sequence[Journey | Late]) -> bool:
        made = [span for one in told for span in (spans(one) if isinstance(one, Journey) else [late(one)])]
        return self._exporter.carry(made)
