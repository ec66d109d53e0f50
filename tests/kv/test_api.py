"""The plugin's routes, called as the engine's server calls them."""

from __future__ import annotations

import asyncio
import logging
import tomllib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.testclient import TestClient
from starlette.types import Message, Scope
from starlette.websockets import WebSocket

from gateway.kv.api import LARGEST_BODY, VERSION, RetraceMiddleware
from gateway.kv.nouns import OPEN_END, State
from gateway.kv.pool import Pool
from gateway.kv.settings import Settings
from tests.kv.pools import OWNER, RECORD, TOKENS, fill, sound
from tests.rig import until

SECRET = "correct horse 🐎"
GIB = 1 / (1 << 20)


async def hello(request: Request) -> PlainTextResponse:
    return PlainTextResponse(f"the engine's own {request.url.path} {(await request.body()).decode()}")


async def echo(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text(await socket.receive_text())
    await socket.close()


def server(**options: Any) -> Starlette:
    routes = [Route("/{rest:path}", hello, methods=["GET", "POST"]), WebSocketRoute("/{rest:path}", echo)]
    app = Starlette(routes=routes)
    app.add_middleware(RetraceMiddleware, **{"report_seconds": 0.0} | options)
    return app


@pytest.fixture(autouse=True)
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RETRACE_POOL_DISK", "RETRACE_POOL_TTL", "RETRACE_POOL_HOLD", "RETRACE_ENGINE_SECRET"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RETRACE_POOL", str(tmp_path / "pool"))
    monkeypatch.setenv("RETRACE_POOL_GIB", str(GIB))


@pytest.fixture
def pool(environment: None) -> Iterator[Pool]:
    """As the engine has it."""
    pool = Pool(Settings.read())
    yield pool
    pool.close()


Caller = Callable[..., Any]


@asynccontextmanager
async def caller(peer: str | None = "127.0.0.1", **options: Any) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(server(**options), client=(peer, 1))  # type: ignore[arg-type]
    async with httpx.AsyncClient(transport=transport, base_url="http://engine/retrace/v1") as client:
        yield client


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    async with caller() as client:
        yield client


def presenting(secret: str) -> dict[bytes, bytes]:
    return {b"x-retrace-secret": secret.encode()}


def told(response: httpx.Response, status: int, code: str) -> str:
    """The message of an error of the agreed shape."""
    assert response.status_code == status, response.text
    assert set(response.json()) == {"error"}
    assert response.json()["error"]["code"] == code
    message: str = response.json()["error"]["message"]
    assert message
    return message


async def test_health_says_what_plugin_engine_and_pool_are(pool: Pool, http: httpx.AsyncClient) -> None:
    empty = {"pending": 0, "kept": 0, "active": 0, "expired": 0}
    health = (await http.get("/health")).json()
    assert health == {
        "plugin": VERSION,
        "engine": None,
        "pool": {"bytes": 0, "size": 1024, "disk_bytes": 0, "entries": empty},
    }
    pool.publish_engine({"model": "m", "splice": True})
    fill(pool, "a", 2)
    with pool.lease("a"):
        health = (await http.get("/health")).json()
    assert health["engine"] == {"model": "m", "splice": True}
    assert health["pool"]["bytes"] == 2 * RECORD
    assert health["pool"]["entries"] == empty | {"active": 1}


def test_the_version_is_the_package_s() -> None:
    project = Path(__file__).parents[2] / "pyproject.toml"
    assert tomllib.loads(project.read_text(encoding="utf-8"))["project"]["version"] == VERSION


async def test_a_verdict_keeps_and_another_drops(pool: Pool, http: httpx.AsyncClient) -> None:
    fill(pool, "a", 2, kept=False)
    body = {
        "reason": "R101",
        "sensitive_token_spans": [[0, 2]],
        "sensitive_output": True,
        "ttl_seconds": 600,
        "priority": 3,
    }
    for _ in range(2):
        kept = await http.post("/captures/a", json=body)
        assert kept.status_code == 200
        assert kept.json() | {"expires": 0, "created": 0} == {
            "id": "a",
            "state": "kept",
            "reason": "R101",
            "tenant": "tenant",
            "adapter": "",
            "tokens": 8,
            "blocks": 2,
            "bytes": 2 * RECORD,
            "sensitive_tokens": 8,
            "priority": 3,
            "created": 0,
            "expires": 0,
            "on_disk": False,
            "report": {"captured_tokens": 8},
        }
        assert 590 < kept.json()["expires"] - kept.json()["created"] < 700
    assert sound(pool, "a")
    for _ in range(2):
        dropped = await http.delete("/captures/a")
        assert dropped.status_code == 200
        assert (dropped.json()["state"], dropped.json()["report"]) == ("expired", {"captured_tokens": 8})
    assert pool.usage().bytes == 0
    assert "has expired" in told(await http.post("/captures/a", json={"reason": "R203"}), 410, "gone")


async def test_one_capture_is_told_with_its_report(pool: Pool, http: httpx.AsyncClient) -> None:
    pool.begin("a", OWNER, TOKENS, RECORD)
    assert (await http.get("/captures/a")).json()["report"] is None
    pool.finish("a", {"declined": "tenant"})
    found = (await http.get("/captures/a")).json()
    assert (found["state"], found["report"]) == ("pending", {"declined": "tenant"})


async def test_the_newest_are_listed(pool: Pool, http: httpx.AsyncClient) -> None:
    for id in ("a", "b", "c"):
        fill(pool, id, kept=id != "b")
    listed = (await http.get("/captures")).json()["captures"]
    assert [(one["id"], one["state"]) for one in listed] == [("c", "kept"), ("b", "pending"), ("a", "kept")]
    assert "report" not in listed[0]
    kept = (await http.get("/captures", params={"limit": 1, "state": "kept"})).json()["captures"]
    assert [one["id"] for one in kept] == ["c"]


async def test_what_nobody_knows_is_not_found(http: httpx.AsyncClient) -> None:
    for answer in (
        await http.get("/captures/a"),
        await http.delete("/captures/a"),
        await http.post("/captures/a", json={"reason": "R203"}),
    ):
        assert "'a'" in told(answer, 404, "unknown_capture")
    for path in ("/", "/x", "/captures/", "/captures/a/b", "/healthy"):
        assert "captures/ID" in told(await http.get(path), 404, "no_such_path")


async def test_what_is_malformed_names_the_field(pool: Pool, http: httpx.AsyncClient) -> None:
    fill(pool, "a", kept=False)
    told(await http.post("/captures/a"), 400, "malformed")
    assert "`reason`" in told(await http.post("/captures/a", json={}), 400, "malformed")
    assert "`limit`" in told(await http.get("/captures?limit=0"), 400, "malformed")
    for id in ("a.b", "%2e%2e", "x" * 65, "a%20b", "%00"):
        assert "capture's id" in told(await http.get(f"/captures/{id}"), 400, "malformed")
    assert pool.look("a").state == State.PENDING


async def test_other_methods_are_refused(http: httpx.AsyncClient) -> None:
    for method, path, allowed in (
        ("POST", "/health", "GET"),
        ("DELETE", "/captures", "GET"),
        ("PUT", "/captures/a", "GET, POST, DELETE"),
        ("PATCH", "/captures/a", "GET, POST, DELETE"),
    ):
        refused = await http.request(method, path)
        told(refused, 405, "method_not_allowed")
        assert refused.headers["allow"] == allowed


async def test_a_body_beyond_measure_is_not_read(http: httpx.AsyncClient) -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 1 << 16
            yield b" " * (1 << 16)

    told(await http.post("/captures/a", content=endless()), 413, "too_large")
    assert sent <= LARGEST_BODY + (1 << 17)
    within = b'{"reason": "R203"}'.ljust(LARGEST_BODY)
    told(await http.post("/captures/a", content=within), 404, "unknown_capture")


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"])
async def test_without_a_secret_this_machine_may_ask(peer: str) -> None:
    async with caller(peer) as http:
        assert (await http.get("/health")).status_code == 200


@pytest.mark.parametrize("peer", ["10.0.0.1", "8.8.8.8", "::2", "::ffff:10.0.0.1", "localhost", "0.0.0.0", "", "unix"])
async def test_without_a_secret_no_other_machine_may(peer: str) -> None:
    async with caller(peer) as http:
        for path in ("/health", "/nowhere", "/captures/a"):
            assert "RETRACE_ENGINE_SECRET on both sides" in told(await http.get(path), 403, "local_only")


async def test_a_peer_on_a_unix_socket_is_on_this_machine() -> None:
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {
        "type": "http",
        "method": "GET",
        "path": "/retrace/v1/health",
        "headers": [],
        "query_string": b"",
        "client": None,
    }
    await RetraceMiddleware(server())(scope, receive, send)
    assert b'"plugin"' in sent[1]["body"]


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
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        sent.append(message)

    scope: Scope = {
        "type": "http",
        "method": "GET",
        "path": "/below/retrace/v1/health",
        "root_path": "/below",
        "headers": [],
        "query_string": b"",
        "client": ("127.0.0.1", 1),
    }
    await RetraceMiddleware(server())(scope, receive, send)
    assert b'"plugin"' in sent[1]["body"]


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


@pytest.mark.parametrize("verdict", ["POST", "DELETE"])
async def test_a_verdict_that_overtakes_its_request_waits_for_the_report(pool: Pool, verdict: str) -> None:
    pool.begin("early", OWNER, TOKENS, RECORD)
    async with caller(report_seconds=30.0) as client:
        body = {"reason": "R203"} if verdict == "POST" else None
        asked = asyncio.create_task(client.request(verdict, "/captures/early", json=body))
        await asyncio.sleep(0.05)
        assert not asked.done()
        pool.finish("early", {"captured_tokens": 7})
        answer = await asked
    assert answer.status_code == 200
    assert answer.json()["report"] == {"captured_tokens": 7}
    assert answer.json()["state"] == ("kept" if verdict == "POST" else "expired")


async def test_a_report_that_never_comes_is_not_waited_for_for_ever(pool: Pool) -> None:
    pool.begin("early", OWNER, TOKENS, RECORD)
    async with caller(report_seconds=0.05) as client:
        answer = await client.post("/captures/early", json={"reason": "R203"})
    assert answer.status_code == 200
    assert answer.json()["report"] is None


class Spelled:
    """An engine's client, as far as tokens become text there: each is spelled as its number."""

    def get_tokenizer(self) -> Spelled:
        return self

    def decode(self, tokens: list[int], skip_special_tokens: bool) -> str:
        assert not skip_special_tokens
        return "".join(f"<{token}>" for token in tokens)


@pytest.mark.parametrize(("spelled", "texts"), [(True, "known"), (True, "unknown"), (False, "known")])
async def test_passages_become_spans_of_tokens_or_else_the_whole_answer(pool: Pool, spelled: bool, texts: str) -> None:
    fill(pool, "a", 2, kept=False)
    tokens = pool.look("a").tokens
    app = server()
    if spelled:
        app.state.engine_client = Spelled()
    passage = f"<{tokens[4]}><{tokens[5]}>" if texts == "known" else "<nothing of it>"
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://e/retrace/v1") as client:
        answer = await client.post("/captures/a", json={"reason": "R101", "sensitive_texts": [passage]})
    assert answer.status_code == 200
    expected = ((4, 6),) if spelled and texts == "known" else ((2, OPEN_END),)
    assert pool.look("a").sensitive == expected
