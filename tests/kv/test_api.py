"""The plugin's routes, called as the engine's server calls them."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from gateway.kv.api import LARGEST_BODY, VERSION
from gateway.kv.nouns import OPEN_END, State
from gateway.kv.pool import Pool
from tests.kv.pools import OWNER, RECORD, TOKENS, fill, sound
from tests.kv.served import caller, server, told

pytestmark = pytest.mark.usefixtures("environment")


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
