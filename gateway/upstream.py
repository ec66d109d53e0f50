"""The way to the backends: which one, with usage asked for, and what its errors look like to a client."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import orjson

from gateway import leaves, marks
from gateway.backends import Answer, Backend, Call, Plan
from gateway.errors import BadRequest, Fault, NotGuarded, UpstreamFault
from gateway.fleet import Fleet
from gateway.globs import fits
from gateway.metrics import Metrics
from gateway.retrace import Retrace
from gateway.surfaces import Asking, Surface
from gateway.terms import Terms
from gateway.types import Draft, Exchange, Reuse

LARGEST_ERROR = 1 << 20
OPTIONAL = ("stream_options", "logprobs")  # what the gateway asks for on its own account


class Upstream:
    """Opens answers. Every fault of a backend is counted once: what ends an exchange here, what is retried there."""

    def __init__(self, fleet: Fleet, metrics: Metrics, heard: Callable[[Reuse], None] = lambda _reuse: None) -> None:
        self._fleet, self._metrics = fleet, metrics
        self.retrace = Retrace(metrics, heard)
        self._refused: dict[str, frozenset[str]] = {}  # what backends are known not to take of what is optional

    def count(self, model: str, fault: UpstreamFault) -> None:
        self._metrics.upstream_error(self._fleet.name(model), fault.kind)

    def serving(self, model: str) -> str:
        """The name of the backend of a model."""
        return self._fleet.name(model)

    async def open(
        self,
        asking: Asking,
        sent: Mapping[str, str],
        exchange: Exchange,
        terms: Terms,
        draft: Draft | None = None,
    ) -> Answer:
        """The answer to an exchange. What is optional is left out where the backend is known to refuse it. By the draft
        a capture is settled whose call ends before it is answered."""
        name, backend = self._fleet.serving(exchange.model)
        with marks.stage("open", backend=name):
            return await self._open(name, backend, asking, sent, exchange, terms, draft)

    async def _open(
        self,
        name: str,
        backend: Backend,
        asking: Asking,
        sent: Mapping[str, str],
        exchange: Exchange,
        terms: Terms,
        draft: Draft | None,
    ) -> Answer:
        path, body, wished = asking
        refused = self._refused.get(name, frozenset())
        if refused:
            body = {key: value for key, value in body.items() if key not in refused or key not in wished}
        optional = [key for key in wished if key in body]
        raw = _dumped(body)
        plan = None
        if backend.patched:
            with marks.stage("plan"):
                plan = await self.retrace.plan(exchange, body, len(raw), terms, draft)
        answer = _willing(name, await backend.open(Call("POST", path, raw, sent, plan)))
        if answer.status != 400 or not optional:
            return answer
        try:
            told = await answer.read(LARGEST_ERROR)
        finally:
            answer.close()
        blamed = frozenset(key for key in optional if key.encode() in told)
        if not blamed:
            return _ReadAnswer(answer, told)
        self._refused[name] = refused | blamed
        return await self._open(name, backend, asking, sent, exchange, terms, draft)

    async def ask(self, tenant: str, asking: Asking, backend: str | None) -> tuple[str, int, bytes]:
        """A question of our own, for a tenant: who answered, with which status, and what. Fault if nobody did.

        It shares the tenant's prefix cache, and nothing of it is captured.
        """
        named = backend is not None
        name, living = self._fleet.named(str(backend)) if named else self._fleet.serving(asking.body.get("model", ""))
        plan = Plan(self.retrace.salt(tenant)) if living.patched else None
        call = Call("POST", asking.path, _dumped(asking.body), {"content-type": "application/json"}, plan)
        with marks.stage("read", backend=name):
            answer = _willing(name, await living.open(call))
            try:
                return name, answer.status, await answer.read(LARGEST_ERROR)
            finally:
                answer.close()

    async def repeat(self, backend: str, asking: Asking, plan: Plan) -> Answer:
        """What a client has asked once more, for ourselves. Fault if nobody answers; the caller closes the answer."""
        _, living = self._fleet.named(backend)
        call = Call("POST", asking.path, _dumped(asking.body), {"content-type": "application/json"}, plan)
        return _willing(backend, await living.open(call))

    async def pass_on(self, model: str, call: Call) -> Answer:
        """A request that nobody judges, to the backend of its model; one without a body goes to the first."""
        name, backend = self._fleet.serving(model) if call.body else self._fleet.first()
        return _willing(name, await backend.open(call))


def _willing(name: str, answer: Answer) -> Answer:
    """The answer, unless it is meant for the gateway itself: UpstreamFault says what to set right."""
    if answer.status in (401, 403):
        answer.close()
        raise UpstreamFault(
            f"the backend {name} refused the gateway's own key; set it under `key_env`",
            kind="credentials",
        )
    if 300 <= answer.status < 400:  # a client would follow it, past every guard
        answer.close()
        raise UpstreamFault(f"the backend {name} sent a redirect; put its real address under `urls`", kind="redirect")
    return answer


def _dumped(body: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(body)
    except TypeError as fault:  # it was JSON once, so all that can be wrong is its depth
        raise BadRequest("the body is nested too deeply") from fault


class _ReadAnswer:
    """An answer whose body was read already."""

    capture = None

    def __init__(self, answer: Answer, body: bytes) -> None:
        self.status, self.headers, self._body = answer.status, answer.headers, body

    async def chunks(self) -> Any:
        yield self._body

    async def read(self, limit: int) -> bytes:
        return self._body

    def close(self) -> None:
        """It was closed when it had been read."""


def model_of(body: bytes) -> str:
    """The model that a request which nobody judges is for; none if it does not say."""
    model = leaves.parsed(body).get("model")
    return model if isinstance(model, str) else ""


def error_body(surface: Surface, status: int, raw: bytes) -> bytes:
    """An upstream's error as it is, if it is JSON that a client can read; else in the surface's shape."""
    told = leaves.parsed(raw)
    theirs = surface.their_error(status, told)
    if theirs:
        return raw if theirs is told else orjson.dumps(theirs)
    return orjson.dumps(surface.error(Fault(f"the upstream answered with status {status} and no readable reason")))


def assert_passed(method: str, path: str, allowed: Collection[str], guarded: Collection[str]) -> None:
    """NotGuarded unless the path is one of those that generate nothing."""
    crooked = ".." in path or "//" in path or "%" in path
    if crooked or not fits(path, allowed):
        known = ", ".join(sorted(guarded))
        raise NotGuarded(
            f"no guard understands {method} {path[:100]}, so it is not passed on (guarded: POST {known}); "
            "if it can't generate text, name it under `pass_through`"
        )
