"""The road of an exchange, top to bottom.

- authorize   whose key is this?                               401
- admit       surface: bytes -> Exchange                       400, 404
- judge       rules(input): block, mask, tag                   400 content_filter, or a canned answer
- open        a replica answers; retried while no byte left    502, 503, 504
- hear        rules(input) that take their time, meanwhile     400 content_filter  (beside.py)
- relay       rules(output) on each piece; the client sees what may leave
- close       rules(output) that take their time: the answer is held for them  (closing.py)
- review      a risky answer is read once more; nothing is put to it that is not better  (refine/)
- settle      a patched engine keeps the KV of what was rejected  (retrace.py)
- book        metrics and log see the exchange and its draft   (ledger.py)
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import orjson

from gateway import beside, explain, headers, inlet, marks, upstream
from gateway.backends import Answer, Call
from gateway.beside import Opening
from gateway.config import House
from gateway.errors import BadRequest, Fault, Unknown, UpstreamFault
from gateway.fleet import Fleet
from gateway.flow import AnswerFlow, Errand, Flow, OutwardFlow, PatientFlow, WholeFlow, assembled
from gateway.heads import head
from gateway.inlet import Canned
from gateway.jury import Case, Jury
from gateway.ledger import Trip
from gateway.metrics import Metrics
from gateway.plug import plugs
from gateway.preparing import Preparing
from gateway.refine.ask import Sent
from gateway.refine.refiner import Refiner
from gateway.relay import whole
from gateway.reports import without_report
from gateway.sample import Sampled
from gateway.surfaces import Asking, Outward, Surface, sse
from gateway.tracing import intent
from gateway.types import Principal, Reuse, Side
from gateway.upstream import Upstream
from gateway.witness import Witness

log = logging.getLogger(__name__)

JSON = "application/json"
EVENTS = "text/event-stream"
WRONG = "/retrace/v1/refine/wrong"  # where clients say that a correction from the cache was none
LARGE = 1 << 17  # bytes; judging them may take a millisecond, and hostile ones much longer


class Inbound(NamedTuple):
    """A request as the server read it. Headers are found whatever their case."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes


class Reply(NamedTuple):
    """What the server sends: a whole body, or one that comes piece by piece."""

    status: int
    headers: Mapping[str, str]
    body: bytes | Flow


class Pipeline:
    """Takes requests through the house that is in force when they arrive."""

    def __init__(self, house: Callable[[], House], fleet: Fleet, metrics: Metrics) -> None:
        self._house, self._metrics = house, metrics
        self.witnesses: tuple[Witness, ...] = ()
        self._upstream = upstream.Upstream(fleet, metrics, self._heard)
        self.refiner = Refiner(metrics, self._post, lambda: self.under_way)
        self._jury = Jury(metrics)
        self._preparing = Preparing(self._upstream, metrics, self.refiner, self._jury)
        self.under_way = 0  # requests, as the server counts them
        self._surfaces: dict[str, Surface] = {
            path: kind() for kind in plugs("surfaces").values() for path in kind.paths
        }

    async def apply(self, house: House) -> None:
        """What a new house changes of the way to the engines' captures."""
        wanted = house.file.retrace.sample
        sampled = Sampled(house.folder / wanted.file, wanted.most) if wanted else None
        await self._upstream.retrace.apply(house.file.retrace.store, sampled, house.terms.lookup.codes)
        await self.refiner.apply(house.refine, house.folder)
        await self._jury.apply(house.rules.values(), house.reasons.keys())
        for witness in self.witnesses:
            await witness.apply(house)

    async def stop(self) -> None:
        await self.refiner.stop()
        await self._jury.stop()
        await self._upstream.retrace.stop()
        for witness in self.witnesses:
            await witness.stop()

    def _heard(self, reuse: Reuse) -> None:
        for witness in self.witnesses:
            witness.reuse(reuse)

    async def _post(self, tenant: str, asking: Asking, backend: str | None) -> Sent:
        return Sent(*await self._upstream.ask(tenant, asking, backend))

    @property
    def way(self) -> Upstream:
        """The way to the backends."""
        return self._upstream

    @property
    def store_up(self) -> bool:
        """Whether captures can be found again."""
        store = self._upstream.retrace.store
        return store is not None and store.up

    def authorize(self, sent: Mapping[str, str]) -> Principal:
        """Whose request this is; Unauthorized if nobody's."""
        keys = self._house().keys
        return keys.principal(headers.bearer(sent) if keys else None)

    def shape(self, path: str, fault: Fault) -> bytes:
        """A fault as those SDKs expect it that ask at this path, or below it."""
        near = (surface for known, surface in self._surfaces.items() if f"{path}/".startswith(f"{known}/"))
        surface = next(near, None) or next(iter(self._surfaces.values()))
        return orjson.dumps(surface.error(fault))

    async def run(self, inbound: Inbound, principal: Principal, trip: Trip) -> Reply:
        """The answer to one request. Faults are raised; what fails after the first byte is told inside the stream."""
        house = self._house()
        for witness in self.witnesses:
            witness.enters(trip, inbound.headers)
        surface = self._surfaces.get(inbound.path)
        if (inbound.method, inbound.path) == ("POST", WRONG):
            return self._wrong(inbound, principal, trip)
        try:
            if surface is None or inbound.method != "POST":
                return await self._pass_through(house, inbound, trip)
            return await self._guarded(house, surface, inbound, principal, trip)
        except UpstreamFault as fault:
            self._upstream.count(trip.exchange.model if trip.exchange else upstream.model_of(inbound.body), fault)
            raise

    async def _guarded(
        self, house: House, surface: Surface, inbound: Inbound, principal: Principal, trip: Trip
    ) -> Reply:
        with trip:
            trip.surface = surface.name
            with marks.stage("admit"):
                exchange, body = inlet.admit(surface, inbound.headers, inbound.body, principal)
            trip.exchange, trip.size = exchange, len(inbound.body)
            trip.revision, trip.tried = house.revision, house.terms.tried(exchange)
            house = house.of(exchange)
            trip.recorded = any(witness.wants(exchange, house) for witness in self.witnesses)
            errand = Errand(house, surface, exchange, trip, self._metrics, self._upstream)
            try:
                with marks.stage("judge"):
                    if len(inbound.body) < LARGE:
                        judged = inlet.judge(house, exchange, body, trip.draft)
                    else:  # beside the event loop, so that others go on meanwhile
                        judged = await asyncio.to_thread(inlet.judge, house, exchange, body, trip.draft)
            finally:
                self._metrics.observe_findings(Side.INPUT, trip.draft.findings)
        outward = surface.outward(exchange, body)
        if isinstance(judged, Canned):
            return _told(_canned(errand, judged.message), outward)
        cases = beside.cases(house, surface, exchange, judged, masked=judged is not body)
        return _told(await self._forward(errand, inbound, judged, cases), outward)

    async def _forward(self, errand: Errand, inbound: Inbound, judged: dict[str, Any], cases: Sequence[Case]) -> Reply:
        whole, limits = not errand.exchange.stream, errand.house.file.limits
        sent = headers.upstream(inbound.headers, errand.exchange.id)
        errand, body = self._preparing.prepared(errand, judged, sent)
        exchange, translated = errand.exchange, errand.surface.upstream_path
        insists = exchange.wants_usage and not (translated or whole)
        asking = Asking(translated or inbound.path, body, errand.optional(insists))
        errand.trip.backend = self._upstream.serving(exchange.model)
        errand.trip.asked = body if errand.trip.recorded else None
        draft, terms = errand.trip.draft, errand.house.terms
        call = partial(self._upstream.open, asking, sent, exchange, terms, draft)
        opening = self._opening(errand, cases, call)
        if not whole and limits.keep_alive_seconds:
            patient = PatientFlow(errand, opening, limits.keep_alive_seconds)
            return Reply(200, head(errand, EVENTS, {}, sent), patient)
        answer = await opening
        if exchange.stream and answer.headers.get("content-type", "").startswith(EVENTS):
            flow = AnswerFlow(errand, answer)
            if not whole:
                return Reply(answer.status, head(errand, EVENTS, answer.headers, sent), flow)
            out = await assembled(flow, errand.surface, limits.answer_bytes)
        else:
            out = await self._read(errand, answer)
        return Reply(answer.status, head(errand, JSON, answer.headers, sent), out)

    def _opening(self, errand: Errand, cases: Sequence[Case], call: Callable[[], Opening]) -> Opening:
        """The call; with rules to be heard meanwhile, nothing of its answer is had before they were."""
        if not cases:
            return call()
        hearing = partial(beside.heard, self._jury, errand.house, cases, errand.trip.draft, self._metrics)
        return beside.beside(call, hearing, errand.close, partial(self._upstream.count, errand.exchange.model))

    async def _read(self, errand: Errand, answer: Answer) -> bytes:
        """An answer in one piece, judged and reviewed."""
        limit = errand.house.file.limits.answer_bytes
        try:
            errand.opened(answer)
            raw = await answer.read(limit)
            since = len(errand.trip.draft.findings)
            if errand.trip.trace is not None:
                intent.hear(errand.trip.trace, raw)
            with errand.trip, marks.stage("relay"):
                if len(raw) < LARGE:
                    out = self._whole(errand, answer, raw)
                else:
                    out = await asyncio.to_thread(self._whole, errand, answer, raw)
            if errand.review is not None and answer.status < 400:
                out = await errand.review.whole(out)
            errand.seen(since)
            if answer.status < 400:
                out = _heard(errand, out)
        finally:
            errand.close(answer)
        return out

    def _whole(self, errand: Errand, answer: Answer, raw: bytes) -> bytes:
        if answer.status >= 400:
            return upstream.error_body(errand.surface, answer.status, raw)
        if answer.capture is not None:
            raw = without_report(raw, answer.capture)
        return whole(errand.surface, errand.exchange, errand.trip.draft, errand.lanes, raw, errand.manner)

    def _wrong(self, inbound: Inbound, principal: Principal, trip: Trip) -> Reply:
        """A tenant says that what it got from the cache was wrong: it is forgotten, and not served like that again."""
        trip.surface = "own"
        try:
            told = orjson.loads(inbound.body)
        except orjson.JSONDecodeError as fault:
            raise BadRequest(f"the body is not JSON: {fault}") from fault
        entry = told.get("entry") if isinstance(told, dict) else None
        if not isinstance(entry, str):
            raise BadRequest(f'send {{"entry": "..."}}, as {headers.ENTRY} of the answer named it', param="entry")
        if not self.refiner.wrong(principal.tenant, entry):
            raise Unknown("the cache holds nothing of yours by this name; it may have run out of time", param="entry")
        return Reply(200, {"content-type": JSON}, orjson.dumps({"forgotten": entry}))

    async def _pass_through(self, house: House, inbound: Inbound, trip: Trip) -> Reply:
        """A path that generates nothing, as it is. Everything else is refused: no guard understands it."""
        upstream.assert_passed(inbound.method, inbound.path, house.file.pass_through, self._surfaces)
        trip.surface = "pass_through"
        name = headers.new_id()
        sent = headers.upstream(inbound.headers, name)
        target = f"{inbound.path}?{inbound.query}" if inbound.query else inbound.path
        call = Call(inbound.method, target, inbound.body, sent)
        answer = await self._upstream.pass_on(upstream.model_of(inbound.body), call)
        try:
            raw = await answer.read(house.file.limits.answer_bytes)
        finally:
            answer.close()
        kind = answer.headers.get("content-type", JSON)
        return Reply(answer.status, {**headers.downstream(answer.headers, sent, name), "content-type": kind}, raw)


def _told(reply: Reply, outward: Outward | None) -> Reply:
    """The reply in the client's own format. An error is in that already."""
    if outward is None or reply.status >= 400:
        return reply
    if isinstance(reply.body, bytes):
        return reply._replace(body=orjson.dumps(outward.whole(orjson.loads(reply.body))))
    return reply._replace(body=OutwardFlow(reply.body, outward))


def _heard(errand: Errand, out: bytes) -> bytes:
    """An answer in one piece as its client gets it: noted if somebody wants its words, and explained if he asked."""
    if errand.trip.recorded and not errand.trip.heard:
        errand.trip.said = explain.said(errand.surface, out)
    return explain.whole(errand.surface, out, errand.trip) if errand.exchange.explain else out


def _canned(errand: Errand, message: str) -> Reply:
    """The message as a whole answer, or as a stream of one."""
    told = errand.surface.canned(errand.exchange, message)
    errand.trip.said = dict.fromkeys(range(errand.exchange.choices), message)
    if errand.exchange.explain:
        for data in told:
            explain.put(errand.surface, data, errand.surface.read(data).ends, errand.trip)
    answers = [orjson.dumps(data) for data in told]
    if not errand.exchange.stream:
        return Reply(200, head(errand, JSON, {}, {}), answers[0])
    return Reply(200, head(errand, EVENTS, {}, {}), WholeFlow(b"".join([*map(sse.frame, answers), sse.DONE_FRAME])))
