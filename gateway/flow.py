"""Bodies that come piece by piece, and what the stages of one exchange share."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import orjson

from gateway import carry, explain, upstream
from gateway.backends import Answer
from gateway.beside import Opening, ended
from gateway.closing import Closing
from gateway.config import House
from gateway.errors import Fault, Unfinished, UpstreamFault
from gateway.judge import Lane
from gateway.ledger import Trip
from gateway.metered import Metering
from gateway.metrics import Metrics
from gateway.pulse import Pulse, Write
from gateway.refine.review import Review
from gateway.relay import Manner, Relay
from gateway.resume import Resumed, Resumer
from gateway.rewind import Budget
from gateway.rules import Place
from gateway.surfaces import Outward, Surface, sse
from gateway.types import Action, Exchange, Finding, Piece, Side
from gateway.upstream import Upstream

log = logging.getLogger(__name__)


class Errand(NamedTuple):
    """One exchange under way."""

    house: House
    surface: Surface
    exchange: Exchange
    trip: Trip
    metrics: Metrics
    upstream: Upstream
    review: Review | Closing | None = None
    budget: Budget | None = None  # if rules may cut the answer back
    resumer: Resumer | None = None  # and then how it goes on
    metering: Metering | None = None  # if rules follow its tokens

    @property
    def manner(self) -> Manner:
        """How the answer is carried."""
        rewinds = self.budget.rewinds if self.budget is not None else None
        explains = partial(explain.path, self.trip) if self.exchange.explain else None
        recorded, review = self.trip.recorded, self.review
        hear = self._hear if recorded and review is None else None
        hold = review.hold if review else "nothing"
        return Manner(hold, recorded or review is not None, rewinds, self.metering, explains, hear)

    def _hear(self, pieces: Sequence[Piece]) -> None:
        """An answer in one piece leaves as it came: what it says is what the client reads."""
        self.trip.said = partial(explain.answers, self.surface, pieces)

    def optional(self, insists: bool) -> Sequence[str]:
        """What is asked of the endpoint on our own account; `insists`: the client wants to be told its usage."""
        ours = {"stream_options": not insists, "logprobs": self.metering is not None and self.metering.strips}
        return [name for name in upstream.OPTIONAL if ours[name]]

    def lanes(self, role: str) -> Sequence[Lane]:
        """The output rules for what `role` says."""
        exchange, who = self.exchange, self.exchange.principal
        return self.house.judge.lanes(Place(Side.OUTPUT, exchange.surface, exchange.model, who.tenant, who.tier, role))

    def seen(self, since: int) -> None:
        """Count what output rules have found since there were that many findings."""
        found = self.trip.draft.findings[since:]
        self.metrics.observe_findings(Side.OUTPUT, found)
        for finding in found:
            rule = self.house.rules.get(finding.rule)
            rewinds = rule is not None and rule.action is Action.REWIND and finding.reason == rule.reason
            if rewinds and finding.action is not Action.REWIND:
                self.metrics.rewind_spent(finding)

    def opened(self, answer: Answer) -> None:
        """An endpoint answers: note what it was asked to keep of it, and to reuse."""
        if answer.capture is not None:
            asked = answer.capture.asked
            self.trip.captures.append({name: asked.get(name) for name in ("capture", "donor", "mode")})

    def close(self, answer: Answer) -> None:
        """The answer is over, however it ended: its capture gets its verdict, and its work ends."""
        if answer.capture is not None:
            self.upstream.retrace.settle(answer.capture, self.exchange, self.trip.draft, self.house.terms)
        answer.close()

    def reject(self, answer: Answer, finding: Finding) -> None:
        """What the answer goes on to say is not wanted: the work in it is kept, and it ends."""
        if answer.capture is not None:
            self.upstream.retrace.reject(answer.capture, finding, self.house.terms)
        answer.close()

    def tell(self, fault: Fault) -> bytes:
        """A fault as an event of the stream, counted if it is the upstream's."""
        if isinstance(fault, UpstreamFault):
            self.upstream.count(self.exchange.model, fault)
        log.warning("%s: %s", self.exchange.id, fault.message)
        if self.exchange.explain:
            fault.extra |= explain.path(self.trip)
        return sse.frame(orjson.dumps(self.surface.error(fault)))


class Flow(ABC):
    """A body that comes piece by piece."""

    @abstractmethod
    async def run(self, write: Write) -> None:
        """Write all of it, piece by piece."""

    @abstractmethod
    def close(self) -> None:
        """End what runs behind it; must be called, also if `run` never was."""


class WholeFlow(Flow):
    """A stream whose pieces are known."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def run(self, write: Write) -> None:
        await write(self._body)

    def close(self) -> None:
        """Nothing runs."""


class AnswerFlow(Flow):
    """The upstream's answer as it may leave. Ends with [DONE], or with an error event and without it."""

    def __init__(self, errand: Errand, answer: Answer) -> None:
        self._errand, self._answer = errand, answer
        errand.opened(answer)

    async def run(self, write: Write) -> None:
        errand, draft = self._errand, self._errand.trip.draft
        since = len(draft.findings)
        relay = Relay(errand.surface, errand.exchange, draft, errand.lanes, manner=errand.manner)
        resume = self._resume if errand.resumer is not None else None
        try:
            await carry.stream(self._answer, relay, errand.trip, write, errand.review, resume)
        except Fault as fault:
            left = [*relay.feed([], final=True), *await self._kept(relay, write)]
            await write(b"".join([*left, errand.tell(fault)]))
        finally:
            errand.seen(since)
            if errand.trip.recorded:
                errand.trip.said = relay.read

    async def _kept(self, relay: Relay, write: Write) -> list[bytes]:
        """What was kept back of an answer that comes to no end: that it was torn makes nothing of it pass unheard."""
        review = self._errand.review
        return await review.end(relay, write) if review is not None and not review.over else relay.release({})

    async def _resume(self, relay: Relay) -> Resumed:
        """The way on from where it was cut back."""
        assert self._errand.resumer is not None
        self._errand.reject(self._answer, next(iter(relay.rewound.values())).finding)
        resumed = await self._errand.resumer.resume(relay, self._errand.trip)
        self._answer = resumed.answer
        self._errand.opened(resumed.answer)
        return resumed

    def close(self) -> None:
        self._errand.close(self._answer)


class OutwardFlow(Flow):
    """Another flow, told in the client's own format."""

    def __init__(self, flow: Flow, outward: Outward) -> None:
        self._flow, self._outward = flow, outward
        self._decoder = sse.Decoder()

    async def run(self, write: Write) -> None:
        async def tell(piece: bytes) -> None:
            told = self._told(piece)
            if told:
                await write(told)

        await self._flow.run(tell)

    def _told(self, piece: bytes) -> bytes:
        if piece == sse.KEEP_ALIVE:
            return self._outward.ping() or piece
        out: list[bytes] = []
        for frame in self._decoder.feed(piece):
            done = frame.data == sse.DONE
            out += self._outward.finish() if done else self._outward.events(orjson.loads(frame.data))
        return b"".join(out)

    def close(self) -> None:
        self._flow.close()


class PatientFlow(Flow):
    """A stream that says it is alive while it waits for the upstream's first piece."""

    def __init__(self, errand: Errand, opening: Opening, patience: float) -> None:
        self._errand, self._pulse = errand, Pulse(patience)
        self._opening = asyncio.ensure_future(opening)
        self._inner: AnswerFlow | None = None

    async def run(self, write: Write) -> None:
        try:
            await self._pulse.through(self._opening, write)
            await self._opened(self._opening.result(), write)
        except Fault as fault:
            await write(self._errand.tell(fault))

    async def _opened(self, answer: Answer, write: Write) -> None:
        if answer.status < 400:
            self._inner = AnswerFlow(self._errand, answer)
            await self._inner.run(write)
            return
        raw = await answer.read(upstream.LARGEST_ERROR)
        await write(sse.frame(upstream.error_body(self._errand.surface, answer.status, raw)))

    def close(self) -> None:
        if self._inner is not None:
            self._inner.close()
        else:
            ended(self._opening, self._errand.close)


async def assembled(flow: Flow, surface: Surface, limit: int) -> bytes:
    """A stream put together for a client that wants its answer whole. Unfinished if it does not come to its end."""
    decoder, size = sse.Decoder(), 0
    events: list[bytes] = []

    async def gather(piece: bytes) -> None:
        nonlocal size
        size += len(piece)
        if size > limit:
            raise UpstreamFault(f"the upstream's answer is larger than {limit} bytes", kind="too_large")
        events.extend(frame.data for frame in decoder.feed(piece))

    try:
        await flow.run(gather)
    finally:
        flow.close()
    told = [orjson.loads(data) for data in events if data != sse.DONE]
    broken = next((event["error"] for event in told if "error" in event and not event.get("choices")), None)
    if broken is not None:
        said = broken.get("message") if isinstance(broken, dict) else broken
        raise Unfinished(str(said or "the upstream reported an error"))
    return orjson.dumps(surface.assembled(told))
