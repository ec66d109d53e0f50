"""Spans as they arrive at whoever gathers them: every field of ours in OpenTelemetry's protobuf."""

from __future__ import annotations

import asyncio

import pytest

from gateway.tracing._otlp import Exporter
from gateway.tracing._span import Event, Span
from gateway.tracing.file import Tracing
from tests.tracing.receiver import CLIENT, INTERNAL, SERVER, receiver

TRACE = 0xABCDEF
ROOT = Span("chat", "server", TRACE, 1, 9, 10, 50, {"s": "x", "n": 3}, "broken", [Event("first", 20)], True, "a=1")
CALL = Span("call", "client", TRACE, 2, 1, 11, 40, {"f": 0.5, "b": True, "many": ("x", "y")})
STAGE = Span("judge", "internal", TRACE, 3, 1, 12, 13, {})


async def test_all_of_a_span_arrives() -> None:
    async with receiver() as gatherer:
        made = Exporter(Tracing(endpoint=gatherer.url, service="mine"))
        assert await asyncio.to_thread(made.carry, [ROOT, CALL, STAGE])
        made.stop()
    root, call, stage = gatherer.spans
    assert (root.name, root.kind, root.trace, root.id, root.parent) == (
        "chat",
        SERVER,
        f"{TRACE:032x}",
        f"{1:016x}",
        f"{9:016x}",
    )
    assert (root.start, root.end, root.events, root.error, root.state) == (10, 50, ["first"], "broken", "a=1")
    assert root.facts == {"s": "x", "n": 3}
    assert (call.kind, call.facts, call.error) == (CLIENT, {"f": 0.5, "b": True, "many": ["x", "y"]}, "")
    assert (stage.kind, stage.parent, stage.facts) == (INTERNAL, f"{1:016x}", {})
    assert gatherer.resources[0]["service.name"] == "mine"
    assert gatherer.resources[0]["service.instance.id"]


async def test_the_environment_may_name_the_service(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "theirs")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test")
    async with receiver() as gatherer:
        for service in (None, "mine"):
            made = Exporter(Tracing(endpoint=gatherer.url, service=service))
            assert await asyncio.to_thread(made.carry, [STAGE])
            made.stop()
    assert [told["service.name"] for told in gatherer.resources] == ["theirs", "mine"]
    assert gatherer.resources[0]["deployment.environment"] == "test"


@pytest.mark.parametrize("status", [302, 400, 401, 500, 503])
async def test_what_is_not_taken_is_said_to_be(status: int) -> None:
    async with receiver() as gatherer:
        gatherer.status = status
        made = Exporter(Tracing(endpoint=gatherer.url, timeout_seconds=0.3))
        assert not await asyncio.to_thread(made.carry, [STAGE])
        made.stop()
        assert gatherer.spans == []


async def test_who_says_a_lot_is_not_listened_to() -> None:
    async with receiver() as gatherer:
        gatherer.says = b"x" * (8 << 20)
        made = Exporter(Tracing(endpoint=gatherer.url))
        assert await asyncio.to_thread(made.carry, [STAGE])
        gatherer.says = b"short"
        assert await asyncio.to_thread(made.carry, [STAGE])
        made.stop()
    assert len(gatherer.spans) == 2


async def test_a_secret_of_its_own_machine_is_sent_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """No proxy of the environment, no password of a .netrc: only what the configuration says."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    async with receiver() as gatherer:
        made = Exporter(Tracing(endpoint=gatherer.url))
        assert await asyncio.to_thread(made.carry, [STAGE])
        made.stop()
    assert "authorization" not in gatherer.headers[0]
