"""An endpoint behind HTTP: replicas, health, retries, time limits. The only upstream client in the house.

`aiohttp` rather than `httpx`: the same library serves and calls, at about a quarter of the cost a request.
"""

from __future__ import annotations

import asyncio
import io
import logging
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import lru_cache

import aiohttp
from yarl import URL

from gateway import marks
from gateway.backends import Call, Observe
from gateway.backends._patched import Captured, Plugin
from gateway.backends._replicas import Replica, Replicas
from gateway.backends._timing import Clock, Timeouts, Watch
from gateway.errors import Unavailable, UpstreamFault, UpstreamTimeout
from gateway.marks import Quiet

log = logging.getLogger(__name__)

_RETRIED_STATUS = frozenset({502, 503, 504})
_PROBE_WHEN_DOWN = 0.5  # seconds
_LARGE = 1 << 16
_PATIENCE = 3.0  # seconds for a short question
_LONGEST = 1 << 16  # bytes of the answer to one


class HttpAnswer:
    """A response whose first piece has come."""

    def __init__(
        self,
        response: aiohttp.ClientResponse,
        replica: Replica,
        clock: Clock,
        first: bytes,
        capture: Captured | None = None,
        seen: Quiet | None = None,
    ) -> None:
        self.status, self.capture = response.status, capture
        self.headers: Mapping[str, str] = response.headers
        self._response, self._replica, self._clock, self._first = response, replica, clock, first
        self._seen = seen
        self._closed = False

    async def chunks(self) -> AsyncIterator[bytes]:
        if self._first:
            yield self._first
        content, clock = self._response.content, self._clock
        clock.expire = lambda: content.set_exception(clock.fault())
        clock.check = self._notice_loss
        while not content.at_eof():
            clock.begin()
            try:
                chunk = await content.readany()
            except (aiohttp.ClientError, OSError) as fault:
                raise UpstreamFault("the upstream broke off in the middle of its answer", kind="broken_off") from fault
            clock.due = math.inf
            if chunk:
                yield chunk

    def _notice_loss(self) -> None:
        """aiohttp closes a connection whose framing is garbage, and leaves who reads from it waiting."""
        connection, content = self._response.connection, self._response.content
        if connection and connection.closed and not content.is_eof() and content.exception() is None:
            content.set_exception(aiohttp.ClientPayloadError("the framing is garbage"))

    async def read(self, limit: int) -> bytes:
        if self._response.content.at_eof() and len(self._first) <= limit:
            return self._first  # it came in one go
        parts, size = [], 0
        async for chunk in self.chunks():
            parts.append(chunk)
            size += len(chunk)
            if size > limit:
                raise UpstreamFault(f"the upstream's answer is larger than {limit} bytes", kind="too_large")
        return b"".join(parts)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._clock.stop()
            self._replica.in_flight -= 1
            if self._seen:
                self._seen.end()
            if self.capture:
                self.capture.drop("unfinished")
            if self._response.content.at_eof():
                self._response.release()
            else:
                self._response.close()  # ends the upstream's work


class HttpBackend:
    """One or several replicas of one endpoint."""

    def __init__(
        self,
        *,
        name: str,
        urls: Sequence[str],
        key: str | None,
        health_path: str,
        health_seconds: float,
        retries: int,
        timeouts: Timeouts,
        observe: Observe,
        plugin: Plugin | None = None,
    ) -> None:
        self._name, self._retries, self._timeouts, self._observe = name, retries, timeouts, observe
        self._replicas = Replicas(urls)
        self._plugin, self.patched = plugin, False
        self._health_path, self._health_seconds = health_path, health_seconds
        self._headers = {"accept-encoding": "identity", **({"authorization": f"Bearer {key}"} if key else {})}
        self._session: aiohttp.ClientSession | None = None
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=30),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=self._timeouts.connect),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=self._headers,
            skip_auto_headers=("user-agent",),
            read_bufsize=1 << 18,
            trust_env=False,
        )
        self._clocks = Watch(self._timeouts)
        watches = [self._clocks.run(), *(self._watch(replica) for replica in self._replicas.all)]
        self._tasks = [asyncio.create_task(watch) for watch in watches]
        if self._plugin:
            self._tasks += self._plugin.start(self._ask)

    async def stop(self) -> None:
        if self._plugin and self._tasks:
            await self._plugin.flush()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._session:
            await self._session.close()

    def healthy(self) -> bool:
        return any(replica.healthy for replica in self._replicas.all)

    async def open(self, call: Call) -> HttpAnswer:
        tried: list[str] = []
        plan = call.plan
        wished = (plan.donor.replica if plan.donor else plan.replica) if plan else None
        while True:
            replica = self._replicas.pick(tried, wished)
            if replica is None:
                raise Unavailable(f"no replica of the backend {self._name} is healthy; see /readyz")
            tried.append(replica.url)
            last = len(tried) > self._retries
            try:
                answer = await self._try(replica, call, len(tried))
            except UpstreamFault as fault:
                if last or not self._worth_another(fault, tried):
                    raise
                self._observe(self._name, fault.kind)
                continue
            if answer.status not in _RETRIED_STATUS or last or len(self._replicas.all) == 1:
                return answer
            self._observe(self._name, f"status_{answer.status}")
            answer.close()

    def _worth_another(self, fault: UpstreamFault, tried: list[str]) -> bool:
        """Whoever was waited for has begun to work, and is not asked twice; one never reached leaves it to others."""
        if not isinstance(fault, UpstreamTimeout):
            return True
        return fault.kind == "timeout_connect" and self._replicas.any_but(tried)

    async def _try(self, replica: Replica, call: Call, attempt: int) -> HttpAnswer:
        assert self._session is not None, "start() comes first"
        task = asyncio.current_task()
        assert task is not None
        body, capture = self._asked(call, replica)
        clock = Clock(self._timeouts, self._clocks, task.cancel)
        replica.in_flight += 1
        response, url = None, _address(replica.url, call.path)
        seen = marks.stage("call", attempt=attempt, address=url.host or "", port=url.port or 0)
        try:
            response = await self._session.request(
                call.method, url, data=_payload(body), headers=seen.carried(call.headers), allow_redirects=False
            )
            first = await response.content.readany()
            clock.end()
            seen.note(status=response.status)
            return HttpAnswer(response, replica, clock, first, capture, seen)
        except BaseException as fault:
            clock.stop()
            replica.in_flight -= 1
            if capture and call.plan:
                call.plan.torn(capture)
            if response:
                response.close()
            if clock.expired and isinstance(fault, asyncio.CancelledError):
                task.uncancel()
                late = clock.fault()
                seen.end(late)
                raise late from fault
            explained = self._explained(fault, replica)
            seen.end(explained)
            if explained is fault:
                raise
            raise explained from fault

    def _asked(self, call: Call, replica: Replica) -> tuple[bytes, Captured | None]:
        """The body for this replica: only one that has the plugin gets what the plan adds."""
        if call.plan is None or replica.engine is None or self._plugin is None:
            return call.body, None
        return self._plugin.added(call.body, call.plan, replica, replica.engine)

    def _explained(self, fault: BaseException, replica: Replica) -> BaseException:
        """The fault in our own words, or as it is if it is not the upstream's."""
        if isinstance(fault, aiohttp.ConnectionTimeoutError):
            replica.healthy = False
            seconds = f"{self._timeouts.connect:g}"
            return UpstreamTimeout(
                f"no connection to the upstream within {seconds} s (connect timeout)", kind="timeout_connect"
            )
        if isinstance(fault, aiohttp.ClientConnectorError):
            replica.healthy = False
            return UpstreamFault(f"the backend {self._name} can't be reached", kind="unreachable")
        if isinstance(fault, aiohttp.ClientError | OSError):
            return UpstreamFault(f"the backend {self._name} broke off before it answered", kind="broken_off")
        return fault

    async def _watch(self, replica: Replica) -> None:
        """Ask the replica how it is, for ever; more often while it is down."""
        while True:
            healthy = await self._probe(replica)
            changed = healthy is not replica.healthy
            if changed:
                log.warning("%s %s is %s", self._name, replica.url, "up" if healthy else "down")
                replica.healthy, replica.engine = healthy, None  # whoever comes back may be another
            if self._plugin and healthy:
                await self._plugin.look(replica, changed)
            self.patched = any(replica.engine for replica in self._replicas.all)
            await asyncio.sleep(self._health_seconds if healthy else min(_PROBE_WHEN_DOWN, self._health_seconds))

    async def _probe(self, replica: Replica) -> bool:
        assert self._session is not None, "start() comes first"
        try:
            async with (
                asyncio.timeout(max(self._timeouts.connect, self._health_seconds)),
                self._session.get(
                    URL(replica.url + self._health_path, encoded=True), allow_redirects=False
                ) as response,
            ):
                return response.status < 500
        except (aiohttp.ClientError, OSError, TimeoutError):
            return False

    async def _ask(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> tuple[int, bytes]:
        """A short question beside the calls: status and body; status 0 if there was no answer in time."""
        assert self._session is not None, "start() comes first"
        try:
            async with (
                asyncio.timeout(_PATIENCE),
                self._session.request(
                    method, URL(url, encoded=True), data=body or None, headers=headers, allow_redirects=False
                ) as response,
            ):
                told = b""
                while len(told) < _LONGEST and (piece := await response.content.readany()):
                    told += piece
                return response.status, told
        except (aiohttp.ClientError, OSError, TimeoutError):
            return 0, b""


@lru_cache(maxsize=1024)
def _address(url: str, path: str) -> URL:
    return URL(url + path, encoded=True)


def _payload(body: bytes) -> aiohttp.BytesPayload | io.BytesIO | None:
    """A large body is written in pieces, so that the event loop is not held up."""
    if len(body) > _LARGE:
        return io.BytesIO(body)
    return aiohttp.BytesPayload(body) if body else None
