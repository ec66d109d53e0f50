"""The plugin's routes within the engine's server: who may ask, what passes through, what goes on beside requests."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.testclient import TestClient
from starlette.types import Message, Scope

from gateway.kv.api import RetraceMiddleware
from gateway.kv.nouns import State
from gateway.kv.pool import Pool
from tests.kv.pools import fill
from tests.kv.served import caller, echo, server, told
from tests.rig import until

pytestmark = pytest.mark.usefixtures("environment")

SECRET = "correct horse 🐎"


def presenting(secret: str) -> dict[bytes, bytes]:
    return {b"x-retrace-secret": secret.encode()}


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
async def test_without_a_secret_this_machine_may_ask(peer: str) -> None:
    async with caller(peer) as http:
        assert (await http.get("/health")).status_code == 200


@pytest.mark.parametrize("peer", ["10.0.0.1", "8.8.8.8", "::2", "::ffff:10.0.0.1", "localhost", "0.0.0.0", "", "unix"])
async def test_without_a_secret_no_other_machine_may(peer: str) -> None:
    async with caller(peer) as http:
        for path in ("/health", "/nowhere", "/captures/a"):
            assert "RETRACE_ENGINE_SECRET on both sides" in told(await http.get(path), 403, "local_only")


async def heard(**scope: Any) -> bytes:
    """What a bare request that a client library can't make is answered."""
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    await RetraceMiddleware(server())(
        {"type": "http", "method": "GET", "headers": [], "query_string": b"", **scope}, receive, send
    )
    return bytes(sent[1]["body"])


async def test_a_peer_on_a_unix_socket_is_on_this_machine() -> None:
    assert b'"plugin"' in await heard(path="/retrace/v1/health", client=None)


@pytest.mark.parametrize("peer", ["127.0.0.1", "10.0.0.1"])
async def test_with_a_secret_whoever_presents_it_may_ask(monkeypatch: pytest.MonkeyPatch, peer: str) -> None:
    monkeypatch.setenv("RETRACE_ENGINE_SECRET", SECRET)
    async with caller(peer) as http:
        assert (await http.get("/health", headers=presenting(SECRET))).status_code == 200
        for headers in ({}, presenting(""), presenting("correct horse"), {b"authorization": SECRET.encode()}):
            assert "x-retrace-secret" in told(await http.get("/health", headers=headers), 401, "unauthorized")
            told(await http.delete("/captures/a", headers=headers), 401, "unauthorized")


async def test_no_secret_is_ever_logged(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("RETRACE_ENGINE_SECRET", SECRET)
    monkeypatch.setenv("RETRACE_POOL", "/dev/null")
    async with caller() as http:
        for secret in (SECRET, "wrong-secret"):
            answer = await http.get("/health", headers=presenting(secret))
            assert secret not in answer.text
    assert "horse" not in caplog.text
    assert "wrong-secret" not in caplog.text


@pytest.mark.parametrize(("name", "value"), [("RETRACE_POOL", "/dev/null"), ("RETRACE_POOL_GIB", "many")])
async def test_a_pool_that_cannot_be_opened_is_said_to_be_unavailable(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    async with caller() as http:
        for _ in range(3):
            told(await http.get("/health"), 503, "pool_unavailable")
        assert (await http.get("http://engine/v1/models")).status_code == 200
    assert caplog.text.count("the pool can't be used") == 1
    assert name in caplog.text


async def test_a_pool_that_can_be_opened_later_is_used_then(tmp_path: Path, http: httpx.AsyncClient) -> None:
    (tmp_path / "pool").write_text("")
    told(await http.get("/health"), 503, "pool_unavailable")
    (tmp_path / "pool").unlink()
    assert (await http.get("/health")).status_code == 200


async def test_all_other_paths_pass_through(http: httpx.AsyncClient) -> None:
    for path in ("/v1/models", "/retrace", "/retrace/v1", "/retrace/v2/health", "/x/retrace/v1/health"):
        answer = await http.post(f"http://engine{path}", content=b"body")
        assert answer.text == f"the engine's own {path} body"


def test_websockets_and_the_server_s_own_life_pass_through(tmp_path: Path) -> None:
    lived: list[str] = []

    @asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        lived.append("begun")
        yield
        lived.append("ended")

    app = Starlette(routes=[WebSocketRoute("/{rest:path}", echo)], lifespan=life)
    app.add_middleware(RetraceMiddleware)
    with TestClient(app) as client, client.websocket_connect("/retrace/v1/health") as socket:
        socket.send_text("hello")
        assert socket.receive_text() == "hello"
    assert lived == ["begun", "ended"]
    assert not (tmp_path / "pool").exists(), "nobody needed it"


async def test_a_server_below_another_path_is_found() -> None:
    below = {"path": "/below/retrace/v1/health", "root_path": "/below", "client": ("127.0.0.1", 1)}
    assert b'"plugin"' in await heard(**below)


async def test_what_is_out_of_time_goes_while_the_server_runs(monkeypatch: pytest.MonkeyPatch, pool: Pool) -> None:
    fill(pool, "a", kept=False)
    pool.keep("a", "R203", ttl=0.001)
    async with caller(sweep_seconds=0.01) as http:
        assert (await http.get("http://engine/any")).status_code == 200, "any request starts it"
        await until(lambda: pool.look("a").state == State.EXPIRED and not pool.usage().bytes, 30)


async def test_sweeping_goes_on_after_a_fault(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "pool").write_text("")
    async with caller(sweep_seconds=0.01) as http:
        await http.get("http://engine/any")
        await until(lambda: "can't be used" in caplog.text, 30)
        (tmp_path / "pool").unlink()
        await until(lambda: (tmp_path / "pool" / "index.db").exists(), 30)


def test_sweeping_ends_with_the_loop_and_begins_again_with_the_next(pool: Pool) -> None:
    """Were it left over, the loop would complain of it, and a warning is an error here."""
    app = server(sweep_seconds=0.01)
    for id in ("a", "b"):
        fill(pool, id)
        pool.keep(id, "R203", ttl=0.001)

        async def served(id: str = id) -> None:
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://engine") as client:
                await client.get("/any")
                await until(lambda: pool.look(id).state == State.EXPIRED, 30)

        asyncio.run(served())


async def test_a_client_that_leaves_within_its_body_is_no_fault(caplog: pytest.LogCaptureFixture) -> None:
    sent: list[Message] = []
    messages: Iterator[Message] = iter(
        [{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}],
    )

    async def receive() -> Message:
        return next(messages)

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {
        "type": "http",
        "method": "POST",
        "path": "/retrace/v1/captures/a",
        "headers": [],
        "query_string": b"",
        "client": ("127.0.0.1", 1),
    }
    await RetraceMiddleware(server())(scope, receive, send)
    assert sent[0]["status"] == 400
    assert caplog.text == ""
