"""Cases on upstreams that take too long: keep-alives while one waits, and limits that say their names."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.rig import (
    CHAT,
    DONE,
    PROMPT,
    Seen,
    answers,
    black_hole,
    chunk,
    delta,
    gateway,
    payloads,
    quiet,
    raw_answer,
    said,
    shaped,
    silent,
    stream_head,
    streams,
    upstream,
)

STREAM: dict[str, Any] = {**CHAT, "stream": True}


async def test_C47_nothing_is_sent_before_the_first_byte_unless_asked_for(tmp_path: Path) -> None:
    """Without keep-alives a failure is a status, not a 200 with an error inside."""
    async with (
        upstream(silent) as (url, up),
        gateway(tmp_path, [url], backend={"timeouts": {"first_token": 0.15}}) as running,
    ):
        response = await running.chat(stream=True)
        assert response.status == 504
        assert "first_token" in shaped(await response.read())["message"]
        await asyncio.wait_for(up.calls[-1].closed.wait(), 1)
        await quiet(running)


@pytest.mark.parametrize("surface", ["chat", "completions"])
async def test_C47_keep_alives_cover_the_wait_and_later_failures_are_told_inside(tmp_path: Path, surface: str) -> None:
    path, body = ("/v1/chat/completions", CHAT) if surface == "chat" else ("/v1/completions", PROMPT)

    async def late(script: Any, seen: Seen, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.12)
        await script(seen, writer)

    ends: dict[str, tuple[Any, str]] = {
        "silent": (silent, "first_token"),
        "500": (answers(b'{"error":{"message":"cuda","type":"x","param":null,"code":null}}', 500), "cuda"),
        "500 html": (answers(b"<h1>no</h1>", 500, {"content-type": "text/html"}), "status 500"),
        "401": (answers(b"{}", 401), "key_env"),
        "reset": (raw_answer(b""), "broke off"),
        "garbage": (streams([b"data: {\n\n"]), "not JSON"),
        "json": (answers(b'{"choices": []}'), "before its answer was complete"),
        "cut": (streams([delta("half ")]), "before its answer was complete"),
        "error cut": (raw_answer(b"HTTP/1.1 500 X\r\ncontent-length: 99\r\n\r\n{"), "broke off"),
    }
    for name, (script, words) in ends.items():
        async with (
            upstream(lambda seen, writer, script=script: late(script, seen, writer)) as (url, _),  # type: ignore[misc]
            gateway(
                tmp_path,
                [url],
                limits={"keep_alive_seconds": 0.04},
                backend={"retries": 0, "timeouts": {"first_token": 0.25}},
            ) as running,
        ):
            async with running.http.post(f"{running.url}{path}", json={**body, "stream": True}) as response:
                assert response.status == 200
                raw = await response.read()
            assert raw.startswith(b": keep-alive\n: keep-alive\n"), name
            last = payloads(raw.replace(b": keep-alive\n", b""))[-1]
            assert last != "[DONE]", name
            assert words in last["error"]["message"], name
            await quiet(running)


async def test_C47_a_stream_that_begins_in_time_has_no_keep_alive(tmp_path: Path) -> None:
    sent = [delta("hi"), delta(finish="stop"), DONE]
    async with (
        upstream(streams(sent)) as (url, _),
        gateway(tmp_path, [url], limits={"keep_alive_seconds": 2.0}) as running,
    ):
        assert await running.ask("/v1/chat/completions", STREAM) == b"".join(sent)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("limit", ["connect", "first_token", "total", "total_behind_head"])
async def test_C47_a_limit_before_the_first_byte_is_a_504_that_names_it(
    tmp_path: Path, limit: str, stream: bool
) -> None:
    slow_head = raw_answer(stream_head(), hang=True)
    script = {"connect": silent, "first_token": silent, "total": silent, "total_behind_head": slow_head}[limit]
    name = limit.removesuffix("_behind_head")
    fields = {"timeouts": {name: 0.15}, "health_seconds": 60, "health_path": "/health"}
    with black_hole() as nowhere:
        async with (
            upstream(script) as (url, up),
            gateway(tmp_path, [nowhere if limit == "connect" else url], backend=fields) as running,
        ):
            response = await running.chat(stream=stream)
            assert response.status == 504
            error = shaped(await response.read())
            assert error["code"] == "upstream_timeout"
            assert f"({name} timeout)" in error["message"]
            assert "0.15 s" in error["message"]
            if limit != "connect":
                await asyncio.wait_for(up.calls[-1].closed.wait(), 1)
            told = await running.metrics()
            assert told[f'retrace_upstream_errors_total{{backend="up",kind="timeout_{name}"}}'] == 1
            await quiet(running)


@pytest.mark.parametrize("limit", ["idle", "total"])
async def test_C47_a_limit_in_the_stream_is_an_error_event_without_done(tmp_path: Path, limit: str) -> None:
    async def dripping(_seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(stream_head())
        for _ in range(3 if limit == "idle" else 1000):
            writer.write(chunk(delta("word ")))
            await writer.drain()
            await asyncio.sleep(0.02)
        await asyncio.Event().wait()

    async with (
        upstream(dripping) as (url, up),
        gateway(tmp_path, [url], backend={"timeouts": {limit: 0.2}}) as running,
    ):
        got = payloads(raw := await running.ask("/v1/chat/completions", STREAM))
        assert said(raw).startswith("word word word ")
        assert got[-1]["error"]["code"] == "upstream_timeout"
        assert f"({limit} timeout)" in got[-1]["error"]["message"]
        assert "[DONE]" not in got
        await asyncio.wait_for(up.calls[-1].closed.wait(), 1)
        told = await running.metrics()
        assert told[f'retrace_upstream_errors_total{{backend="up",kind="timeout_{limit}"}}'] == 1
        await quiet(running)


@pytest.mark.parametrize("limit", ["idle", "total"])
async def test_C47_a_limit_in_a_body_is_a_504(tmp_path: Path, limit: str) -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"
    async with (
        upstream(raw_answer(head, hang=True)) as (url, up),
        gateway(tmp_path, [url], backend={"timeouts": {limit: 0.15}}) as running,
    ):
        for path, body in (("/v1/chat/completions", CHAT), ("/v1/embeddings", {"model": "m", "input": "x"})):
            async with running.http.post(f"{running.url}{path}", json=body) as response:
                assert response.status == 504
                assert f"({limit} timeout)" in shaped(await response.read())["message"]
            await asyncio.wait_for(up.calls[-1].closed.wait(), 1)
        told = await running.metrics()
        assert told[f'retrace_upstream_errors_total{{backend="up",kind="timeout_{limit}"}}'] == 2
        await quiet(running)


async def test_C47_a_slow_reader_is_not_the_upstreams_fault(tmp_path: Path) -> None:
    sent = [*(delta("word " * 2000) for _ in range(400)), delta(finish="stop"), DONE]
    async with (
        upstream(streams(sent)) as (url, _),
        gateway(tmp_path, [url], backend={"timeouts": {"idle": 0.1}}) as running,
    ):
        response = await running.chat(stream=True)
        await asyncio.sleep(0.4)
        got = await response.read()
        assert got == b"".join(sent)
