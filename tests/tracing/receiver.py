"""Whoever gathers traces: takes OTLP over HTTP, reads the protobuf, and can be slow, down or a liar."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.rig import until


@dataclass
class Told:
    """A span as it arrived."""

    name: str
    kind: int
    trace: str
    id: str
    parent: str
    start: int
    end: int
    facts: dict[str, Any]
    events: list[str]
    error: str
    state: str


@dataclass
class Receiver:
    """What it was told, and how it behaves."""

    spans: list[Told] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    resources: list[dict[str, Any]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    status: int = 200
    says: bytes = b""
    pause: float = 0.0  # seconds before it answers
    asked: int = 0
    answered: int = 0
    url: str = ""

    async def take(self, request: web.Request) -> web.Response:
        self.asked += 1
        body = await request.read()
        await asyncio.sleep(self.pause)
        self.answered += 1
        if self.status != 200:
            return web.Response(status=self.status, body=self.says, headers={"location": self.url + "/v1/elsewhere"})
        try:
            told = ExportTraceServiceRequest.FromString(body)
        except DecodeError:
            return web.Response(status=400)
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        self.bodies.append(body)
        for group in told.resource_spans:
            self.resources.append(_facts(group.resource.attributes))
            self.spans += [_told(span) for scope in group.scope_spans for span in scope.spans]
        return web.Response(status=200, body=self.says)

    @property
    def roots(self) -> list[Told]:
        """The exchanges, in the order of their ends."""
        return [span for span in self.spans if span.kind == SERVER]

    async def trace(self, number: int = 0, *, late: str = "", seconds: float = 5.0) -> list[Told]:
        """The spans of an exchange, once they are there; `late`: one of them is to have this name."""
        await until(lambda: len(self.roots) > number, seconds)
        name = self.roots[number].trace
        await until(lambda: not late or any(one.trace == name and one.name == late for one in self.spans), seconds)
        return [span for span in self.spans if span.trace == name]


SERVER, CLIENT, INTERNAL = 2, 3, 1


@asynccontextmanager
async def receiver() -> AsyncIterator[Receiver]:
    """A running one."""
    gatherer = Receiver()
    app = web.Application()
    app.router.add_post("/v1/traces", gatherer.take)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    gatherer.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield gatherer
    finally:
        await runner.cleanup()


def tree(spans: list[Told]) -> list[str]:
    """The spans as a table, each below its parent and in the order in which it began; dots tell the depth.

    What stands several times in one place is told once, with how often.
    """
    known = {span.id for span in spans}

    def below(parent: str, depth: int) -> list[str]:
        mine = [one for one in spans if (one.parent == parent if depth else one.parent not in known)]
        lines: list[str] = []
        for one in sorted(mine, key=lambda one: one.start):
            lines += ["." * depth + one.name, *below(one.id, depth + 1)]
        return lines

    return below("", 0)


def count(spans: list[Told]) -> Counter[str]:
    return Counter(span.name for span in spans)


def the(spans: list[Told], name: str) -> Told:
    """The only span of this name."""
    (found,) = [span for span in spans if span.name == name]
    return found


def _told(span: Any) -> Told:
    return Told(
        span.name,
        span.kind,
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        span.start_time_unix_nano,
        span.end_time_unix_nano,
        _facts(span.attributes),
        [event.name for event in span.events],
        span.status.message if span.status.code == 2 else "",
        span.trace_state,
    )


def _facts(attributes: Any) -> dict[str, Any]:
    return {one.key: _value(one.value) for one in attributes}


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_value(one) for one in value.array_value.values]
    return getattr(value, kind)
