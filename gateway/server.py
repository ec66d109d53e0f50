"""HTTP in and out. The only file that knows aiohttp.web; what it reads and writes means nothing to it."""

from __future__ import annotations

import asyncio
import logging
import socket
from time import perf_counter

import orjson
from aiohttp import web

from gateway import explain, headers
from gateway.audit.auditor import Auditor
from gateway.config import House, Source
from gateway.errors import BadRequest, BodyTimeout, Fault, TooLarge, Unauthorized
from gateway.fleet import Fleet
from gateway.flow import Flow
from gateway.genai import GenAI
from gateway.ledger import Trip, book
from gateway.mainfile import Limits
from gateway.metrics import CONTENT_TYPE, Metrics
from gateway.pipeline import JSON, Inbound, Pipeline, Reply
from gateway.reload import Steward
from gateway.tracing.tracer import Tracer
from gateway.watch.hand import Hand
from gateway.watch.keeper import Keeper
from gateway.watch.versions import PolicyFile
from gateway.watch.watchman import Place, Watchman

log = logging.getLogger(__name__)

CLIENT_GONE = 499  # the status that is booked when the client has left; nobody receives it


class Server:
    """The gateway of one process."""

    def __init__(self, source: Source) -> None:
        self.metrics = Metrics()
        self.steward = Steward(source, self.metrics.guard_broken, self.metrics.reloaded)
        self._fleet = Fleet(self.metrics.upstream_error)
        self.hand = Hand(self.metrics, lambda kind, told: self.auditor.note(kind, told), self._forget)
        self._pipeline = Pipeline(lambda: self.hand.house(self.steward.house), self._fleet, self.metrics)
        self.auditor = Auditor(self.metrics)
        self._pipeline.witnesses = (*self._pipeline.witnesses, self.auditor, self.hand)
        self._pipeline.witnesses = (*self._pipeline.witnesses, Tracer(self.metrics), GenAI(self.metrics))
        self.keeper = Keeper(self.metrics, self._known, self.auditor.note)
        self._pipeline.witnesses = (*self._pipeline.witnesses, self.keeper)
        self.watchman = Watchman(self.metrics, self._place(), self.hand.act, lambda: self.hand.tried)
        self._pipeline.witnesses = (*self._pipeline.witnesses, self.watchman)
        self._own = {"/healthz": self._healthz, "/readyz": self._readyz, "/metrics": self._metrics_page}
        self._runner: web.ServerRunner | None = None
        self._watch: asyncio.Task[None] | None = None

    async def start(self, sock: socket.socket) -> None:
        """Serve on `sock` until `stop`."""
        await self._apply(self.steward.house)
        self._watch = asyncio.create_task(self.steward.watch(self._apply))
        server = web.Server(self._handle, handler_cancellation=True, access_log=None, keepalive_timeout=75)
        self._runner = web.ServerRunner(server, shutdown_timeout=5)
        await self._runner.setup()
        await web.SockSite(self._runner, sock, backlog=1024).start()

    async def stop(self) -> None:
        if self._watch:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        if self._runner:
            await self._runner.cleanup()
        await self.watchman.stop()  # first of all who ask on their own account
        await self._fleet.stop()
        await self._pipeline.stop()

    def _place(self) -> Place:
        """What the watchman needs of this process."""
        way = self._pipeline.way
        return Place(
            ask=way.repeat,
            salt=way.retrace.salt,
            terms=lambda: self.hand.house(self.steward.house).terms,
            load=lambda: self._pipeline.under_way,
            trials=self.keeper,
            faults=self._faults,
        )

    def _faults(self) -> frozenset[str]:
        """What reuse needs and is down."""
        down = {"store": not self._pipeline.store_up, "engine": not any(self._fleet.health().values())}
        return frozenset(name for name, is_down in down.items() if is_down)

    async def _known(self, state: PolicyFile) -> None:
        """This of policies is in force, whatever the file says."""
        self.steward.known = state
        await self.steward.reload(self._apply)

    def _forget(self, reason: str) -> None:
        self.watchman.forget(reason)

    async def _apply(self, house: House) -> None:
        await self._fleet.apply(house.file.backends)
        await self._pipeline.apply(house)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        own = self._own.get(request.raw_path)
        if own and request.method == "GET":
            return own()
        trip = Trip(perf_counter())
        self.metrics.in_flight.inc()
        self._pipeline.under_way += 1
        try:
            return await self._answer(request, trip)
        except asyncio.CancelledError:
            trip.status = CLIENT_GONE
            self.metrics.client_gone(trip.surface)
            raise
        except ConnectionError:
            trip.status = CLIENT_GONE
            self.metrics.client_gone(trip.surface)
            return web.Response(status=CLIENT_GONE)
        finally:
            self.metrics.in_flight.dec()
            self._pipeline.under_way -= 1
            book(trip, self.metrics, [witness.over for witness in self._pipeline.witnesses])

    async def _answer(self, request: web.BaseRequest, trip: Trip) -> web.StreamResponse:
        try:
            sent = request.headers
            self._assert_local(sent.get("host", ""))
            principal = self._pipeline.authorize(sent)
            trip.own += perf_counter() - trip.began
            body = await _body(request, self.steward.house.file.limits)
            path, _, query = request.raw_path.partition("?")  # as it was sent: decoded it would be another address
            inbound = Inbound(request.method, path, query, sent, body)
            reply = await self._pipeline.run(inbound, principal, trip)
        except Fault as fault:
            trip.status, trip.said = fault.status, {}  # what was made of an answer until then is not read by anybody
            return self._refusal(request, trip, fault)
        trip.status = reply.status
        if isinstance(reply.body, bytes):
            return web.Response(status=reply.status, headers=reply.headers, body=reply.body)
        return await _stream(request, reply, reply.body)

    def _refusal(self, request: web.BaseRequest, trip: Trip, fault: Fault) -> web.Response:
        name = trip.exchange.id if trip.exchange else headers.new_id()
        if trip.exchange is not None and trip.exchange.explain:
            fault.extra |= explain.path(trip)
        told = {
            headers.ID: name,
            headers.REQUEST_ID: headers.request_id(request.headers.get(headers.REQUEST_ID), name),
            "content-type": JSON,
        }
        if fault.code in ("content_filter", "guard_unavailable"):
            told |= {
                headers.VERDICT: "block",
                headers.REASON: fault.extra["reason"],
                "x-should-retry": "false",
            }
        if isinstance(fault, TooLarge | BodyTimeout):
            told["connection"] = "close"
        return web.Response(status=fault.status, headers=told, body=self._pipeline.shape(request.path, fault))

    def _assert_local(self, host: str) -> None:
        """Without keys only the local machine is served; a page in its browser that goes by another name is not it."""
        if not self.steward.house.keys and not headers.is_local(host):
            raise Unauthorized(
                f"without API keys only the local machine is served, not {host!r}; `retrace key` makes a key"
            )

    def _healthz(self) -> web.Response:
        return web.json_response({"status": "alive"})

    def _readyz(self) -> web.Response:
        health = self._fleet.health()
        ready = any(health.values())
        told = {
            "ready": ready,
            "backends": health,
            "retrace": self._fleet.patched(),
            "store": self._pipeline.store_up,
            "refine": self._pipeline.refiner.up,
            "controller": self.hand.status(),
            "policies": self.steward.house.standing.told(),
            **self.steward.status(),
        }
        return web.Response(status=200 if ready else 503, body=orjson.dumps(told), content_type=JSON)

    def _metrics_page(self) -> web.Response:
        self.metrics.backends(self._fleet.health())
        self.metrics.store(self._pipeline.store_up)
        self.metrics.refining(self._pipeline.refiner.up)
        return web.Response(body=self.metrics.page(), headers={"content-type": CONTENT_TYPE})


async def _body(request: web.BaseRequest, limits: Limits) -> bytes:
    """The request's body, bounded in size and in time."""
    if (request.content_length or 0) > limits.body_bytes:
        raise _too_large(limits)
    if not request.can_read_body:
        return b""
    if request.content.is_eof():  # it came in one go with its head
        return request.content.read_nowait()
    if request.headers.get("expect", "").lower() == "100-continue":
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    parts, size = [], 0
    try:
        async with asyncio.timeout(limits.body_seconds):
            while chunk := await request.content.readany():
                parts.append(chunk)
                size += len(chunk)
                if size > limits.body_bytes:
                    raise _too_large(limits)
    except TimeoutError as fault:
        raise BodyTimeout(
            f"the body did not arrive within {limits.body_seconds:g} s; is its Content-Length right?"
        ) from fault
    except web.RequestPayloadError as fault:
        raise BadRequest("the body can't be read; is its Content-Encoding right?") from fault
    return b"".join(parts)


def _too_large(limits: Limits) -> TooLarge:
    return TooLarge(f"the body is larger than {limits.body_bytes} bytes (`limits.body_bytes`)")


async def _stream(request: web.BaseRequest, reply: Reply, flow: Flow) -> web.StreamResponse:
    headers = {**reply.headers, "cache-control": "no-cache", "x-accel-buffering": "no"}
    response = web.StreamResponse(status=reply.status, headers=headers)
    try:
        await response.prepare(request)
        await flow.run(response.write)
        await response.write_eof()
    finally:
        flow.close()
    return response
