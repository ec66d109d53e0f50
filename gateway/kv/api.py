"""The plugin's routes inside the engine's API server: verdicts on captures, a list of them, health.

    GET    /retrace/v1/health            what the plugin is, what the engine is, what the pool holds
    GET    /retrace/v1/captures          the newest; ?limit=100&state=kept
    GET    /retrace/v1/captures/{id}     one, with the report of its request
    POST   /retrace/v1/captures/{id}     keep it: {"reason": "R203", "sensitive_texts": ["..."], ...}
    DELETE /retrace/v1/captures/{id}     drop it

Both verdicts may be sent twice. Whoever asks presents the secret in `x-retrace-secret`; where none is set, only this
machine may ask. All other paths, and all that is not HTTP, pass through untouched.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import logging
import re
import sqlite3
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.kv._names import checked
from gateway.kv._wire import Malformed, Verdict, listing, summary, verdict, whole
from gateway.kv.locate import Decode, sensitive
from gateway.kv.nouns import Entry
from gateway.kv.pool import Gone, Pool, UnknownCapture
from gateway.kv.settings import Settings

log = logging.getLogger(__name__)

VERSION = "0.1.0"
PREFIX = "/retrace/v1/"
SECRET = "x-retrace-secret"
LARGEST_BODY = 1 << 20
SWEEP_SECONDS = 5.0
REPORT_SECONDS = 2.0  # how long a verdict's answer waits for the report of its request
REPORT_PAUSE = 0.02
_CAPTURE = re.compile(r"captures/([^/]+)")
_UNUSABLE = (ValueError, OSError, sqlite3.Error)  # settings, the folder, the index

Work = Callable[[Pool], dict[str, Any]]


class Keep(NamedTuple):
    """A verdict to be carried out, and how the engine spells its tokens."""

    id: str
    verdict: Verdict
    decode: Decode | None


class Refusal(Exception):
    """A request that is not served: its status, a code, and what to do."""

    def __init__(self, status: int, code: str, message: str, **headers: str) -> None:
        super().__init__(message)
        self.response = JSONResponse({"error": {"code": code, "message": message}}, status, headers)


class RetraceMiddleware:
    """Made by the server's `add_middleware`; opens the pool when it is first needed."""

    def __init__(
        self, app: ASGIApp, sweep_seconds: float = SWEEP_SECONDS, report_seconds: float = REPORT_SECONDS
    ) -> None:
        self._app = app
        self._pause, self._patience = sweep_seconds, report_seconds
        self._opening = threading.Lock()
        self._settings: Settings | None = None
        self._pool: Pool | None = None
        self._sweeper: asyncio.Task[None] | None = None
        self._told = ""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self._keep_sweeping()
            path = scope["path"].removeprefix(scope.get("root_path", ""))
            if path.startswith(PREFIX):
                response = await self._answer(Request(scope, receive), path.removeprefix(PREFIX))
                await response(scope, receive, send)
                return
        await self._app(scope, receive, send)

    async def _answer(self, request: Request, path: str) -> JSONResponse:
        try:
            _admit(request, self._read().secret)
            work = await _understood(request, path)
            if isinstance(work, Keep):
                work = await self._marked(work)
            told = await asyncio.to_thread(lambda: work(self._opened()))
            if request.method != "GET":
                told = await self._reported(told)
            return JSONResponse(told)
        except Refusal as refusal:
            return refusal.response
        except Malformed as fault:
            return Refusal(400, "malformed", str(fault)).response
        except UnknownCapture as fault:
            return Refusal(404, "unknown_capture", str(fault)).response
        except Gone as fault:
            return Refusal(410, "gone", str(fault)).response
        except _UNUSABLE as fault:
            self._complain(fault)
            return Refusal(503, "pool_unavailable", "the pool can't be used; the engine's log says why").response

    async def _reported(self, told: dict[str, Any]) -> dict[str, Any]:
        """What is told of a capture once its request has left its report."""
        return told if told["report"] else whole(await self._finished(told["id"]))

    async def _finished(self, id: str) -> Entry:
        """A capture whose request has left its report, which a verdict may overtake by a step; or as it is by then."""
        deadline = time.monotonic() + self._patience
        entry = await asyncio.to_thread(lambda: self._opened().look(id))
        while not entry.report and time.monotonic() < deadline:
            await asyncio.sleep(REPORT_PAUSE)
            entry = await asyncio.to_thread(lambda: self._opened().look(id))
        return entry

    async def _marked(self, keep: Keep) -> Work:
        """Keeping with the tokens of sensitive passages found, as far as that is asked for and can be told."""
        verdict, id = keep.verdict, keep.id
        spans: list[tuple[int, int]] | None = []
        if verdict.texts and not verdict.output_sensitive:
            entry = await self._finished(id)
            spans = await asyncio.to_thread(sensitive, entry, verdict.texts, keep.decode)
        more = verdict._asdict() | {"sensitive": (*verdict.sensitive, *(spans or ()))}
        more["output_sensitive"] = verdict.output_sensitive or spans is None
        del more["texts"]
        return lambda pool: whole(pool.keep(id, **more))

    def _keep_sweeping(self) -> None:
        """One task as long as the server's loop runs, which ends it; a new one if it has ended."""
        if self._sweeper is None or self._sweeper.done():
            self._sweeper = asyncio.create_task(self._sweep())

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(self._pause)
            try:
                await asyncio.to_thread(lambda: self._opened().sweep())
            except _UNUSABLE as fault:
                self._complain(fault)

    def _read(self) -> Settings:
        if self._settings is None:
            self._settings = Settings.read()
        return self._settings

    def _opened(self) -> Pool:
        """Only ever called in a thread: it may wait for the file system."""
        with self._opening:
            if self._pool is None:
                self._pool = Pool(self._read())
            return self._pool

    def _complain(self, fault: Exception) -> None:
        """Once for each kind of trouble, not each time it is met."""
        if str(fault) != self._told:
            self._told = str(fault)
            log.warning("the pool can't be used: %s", fault)


def _admit(request: Request, secret: str) -> None:
    """Refusal, unless the secret was presented or, where there is none, the peer is on this machine."""
    if secret:
        sent = request.headers.get(SECRET, "")
        if not hmac.compare_digest(sent.encode("latin-1"), secret.encode()):
            raise Refusal(401, "unauthorized", f"`{SECRET}` must be what RETRACE_ENGINE_SECRET is on the engine's side")
    elif request.client is not None and not _is_loopback(request.client.host):
        raise Refusal(
            403, "local_only", "only this machine may ask; to ask from another, set RETRACE_ENGINE_SECRET on both sides"
        )


def _is_loopback(host: str) -> bool:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    inner = getattr(address, "ipv4_mapped", None)
    return (inner or address).is_loopback


async def _understood(request: Request, path: str) -> Work | Keep:
    """What is asked for, all of it checked. Refusal, Malformed."""
    if path == "health":
        _allow(request, "GET")
        return _health
    if path == "captures":
        _allow(request, "GET")
        limit, state = listing(request.query_params)
        return lambda pool: {"captures": [summary(entry) for entry in pool.entries(limit, state)]}
    found = _CAPTURE.fullmatch(path)
    if not found:
        raise Refusal(404, "no_such_path", f"there are {PREFIX}health, {PREFIX}captures and {PREFIX}captures/ID")
    _allow(request, "GET", "POST", "DELETE")
    id = _id(found[1])
    if request.method == "POST":
        return Keep(id, verdict(await _body(request)), _decoder(request))
    if request.method == "DELETE":
        return lambda pool: whole(pool.drop(id))
    return lambda pool: whole(pool.look(id))


def _decoder(request: Request) -> Decode | None:
    """The engine's own way from tokens to text, which its server keeps; None where there is none."""
    client = getattr(getattr(request.scope.get("app"), "state", None), "engine_client", None)
    if client is None:
        return None
    tokenizer = client.get_tokenizer()
    return lambda tokens: str(tokenizer.decode(list(tokens), skip_special_tokens=False))


def _health(pool: Pool) -> dict[str, Any]:
    usage = pool.usage()
    return {
        "plugin": VERSION,
        "engine": pool.engine(),
        "pool": {
            "bytes": usage.bytes,
            "size": usage.size,
            "disk_bytes": usage.disk_bytes,
            "entries": {state.value: count for state, count in usage.entries.items()},
        },
    }


def _allow(request: Request, *methods: str) -> None:
    if request.method not in methods:
        allowed = ", ".join(methods)
        raise Refusal(405, "method_not_allowed", f"here one may only {allowed}", allow=allowed)


def _id(text: str) -> str:
    try:
        return checked(text)
    except ValueError as fault:
        raise Malformed(str(fault)) from fault


async def _body(request: Request) -> bytes:
    """All of it, as long as it is not too much."""
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > LARGEST_BODY:
                raise Refusal(413, "too_large", f"a verdict has at most {LARGEST_BODY} bytes")
    except ClientDisconnect as gone:
        raise Refusal(400, "incomplete", "the body did not arrive") from gone
    return bytes(body)
