"""Cases on clients that leave: the upstream is told within a second, on every path, and nothing stays behind."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.rig import (
    CHAT,
    PROMPT,
    RawUpstream,
    Running,
    Script,
    Seen,
    chunk,
    delta,
    gateway,
    post,
    quiet,
    raw_answer,
    regex,
    silent,
    stream_head,
    text_delta,
    until,
    upstream,
    wire,
)

SOON = 1.0  # seconds: what the law says
LEAVE: dict[str, Callable[[asyncio.StreamWriter], object]] = {
    "fin": lambda writer: writer.close(),
    "reset": lambda writer: writer.transport.abort(),
}
BODIES: dict[str, tuple[str, dict[str, Any]]] = {
    "chat": ("/v1/chat/completions", CHAT),
    "completions": ("/v1/completions", PROMPT),
    "pass_through": ("/v1/embeddings", {"model": "m", "input": "hi"}),
}
JSON_BEGUN = b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{"id": "c", '


async def endless(seen: Seen, writer: asyncio.StreamWriter) -> None:
    """A stream that never ends by itself."""
    make = delta if "chat" in seen.path else text_delta
    writer.write(stream_head())
    while True:
        writer.write(chunk(make("word ")))
        await writer.drain()
        await asyncio.sleep(0.005)


STAGES: dict[str, tuple[Script, bool]] = {
    "before the head": (silent, False),
    "in the body": (raw_answer(JSON_BEGUN, hang=True), False),
    "after the head": (raw_answer(JSON_BEGUN[:-11], hang=True), False),
    "stream, before the head": (silent, True),
    "stream, before its first byte": (raw_answer(stream_head(), hang=True), True),
    "mid-stream": (endless, True),
}


@asynccontextmanager
async def asked(
    folder: Path, script: Script, raw: bytes, **fields: Any
) -> AsyncIterator[tuple[Running, RawUpstream, Any]]:
    """A request that has reached the upstream, and the wire it came by."""
    async with (
        upstream(script) as (url, up),
        gateway(folder, [url], [regex("bomb", action="mask")], **fields) as running,
        wire(running) as (reader, writer),
    ):
        writer.write(raw)
        await until(lambda: up.calls)
        yield running, up, (reader, writer)


async def gone(running: Running, up: RawUpstream, left: float) -> None:
    await asyncio.wait_for(up.calls[-1].closed.wait(), SOON + 0.5)
    assert time.perf_counter() - left < SOON
    assert up.open == 0
    await quiet(running)


@pytest.mark.parametrize("leave", LEAVE)
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("surface", BODIES)
async def test_C42_C44_a_client_that_leaves_ends_the_upstreams_work(
    tmp_path: Path, surface: str, stage: str, leave: str
) -> None:
    script, stream = STAGES[stage]
    path, body = BODIES[surface]
    async with asked(tmp_path, script, post({**body, "stream": stream}, path)) as (running, up, (reader, writer)):
        if stage == "mid-stream" and surface != "pass_through":
            await asyncio.wait_for(reader.readuntil(b"word "), 2)
        else:
            await asyncio.sleep(0.02)
        left = time.perf_counter()
        LEAVE[leave](writer)
        await gone(running, up, left)
        told = await running.metrics()
    assert told[f'retrace_client_gone_total{{surface="{surface}"}}'] == 1
    is_stream = "true" if stream and surface != "pass_through" else "false"
    assert told[f'retrace_requests_total{{status="499",stream="{is_stream}",surface="{surface}"}}'] == 1


@pytest.mark.parametrize("leave", LEAVE)
@pytest.mark.parametrize("when", ["waiting", "streaming", "in an error"])
async def test_C44_the_same_while_keep_alives_are_sent(tmp_path: Path, when: str, leave: str) -> None:
    error = b"HTTP/1.1 500 X\r\ncontent-type: application/json\r\ncontent-length: 5000\r\n\r\n{"
    script = {"waiting": silent, "streaming": endless, "in an error": raw_answer(error, hang=True)}[when]
    limits = {"keep_alive_seconds": 0.02}
    async with asked(tmp_path, script, post({**CHAT, "stream": True}), limits=limits) as (
        running,
        up,
        (reader, writer),
    ):
        if when == "streaming":
            await asyncio.wait_for(reader.readuntil(b"word "), 2)
        elif when == "waiting":
            await asyncio.wait_for(reader.readuntil(b": keep-alive"), 2)
        else:
            await asyncio.sleep(0.05)
        left = time.perf_counter()
        LEAVE[leave](writer)
        await gone(running, up, left)


async def test_C42_a_client_that_leaves_while_it_sends_is_no_call(tmp_path: Path) -> None:
    async with upstream(silent) as (url, up), gateway(tmp_path, [url]) as running:
        for raw in (post(CHAT)[:-5], post(CHAT)[:40], b"POST /v1/chat", b""):
            async with wire(running) as (_, writer):
                writer.write(raw)
                await writer.drain()
                await asyncio.sleep(0.02)
        await quiet(running)
        assert up.calls == []


async def test_C44_a_client_that_stops_reading_is_not_read_for_and_may_leave(tmp_path: Path) -> None:
    """Its silence travels back to the upstream, the gateway does not gather the answer."""
    written = 0

    async def flood(_seen: Seen, writer: asyncio.StreamWriter) -> None:
        nonlocal written
        writer.write(stream_head())
        while True:
            piece = chunk(delta("word " * 4000))
            written += len(piece)
            writer.write(piece)
            await writer.drain()

    async with asked(tmp_path, flood, post({**CHAT, "stream": True})) as (running, up, (_, writer)):
        writer.transport.pause_reading()
        before = -1
        while written != before:
            before = written
            await asyncio.sleep(0.15)
        assert written < 64 << 20
        left = time.perf_counter()
        writer.transport.abort()
        await gone(running, up, left)


async def test_C45_fifty_clients_that_leave_free_fifty_slots(tmp_path: Path) -> None:
    async with upstream(endless) as (url, up), gateway(tmp_path, [url], [regex("bomb")]) as running:

        async def visit(number: int) -> None:
            body = {**CHAT, "stream": bool(number % 2)}
            async with wire(running) as (_, writer):
                writer.write(post(body))
                await until(lambda: len(up.calls) == 50, 5)

        await asyncio.gather(*map(visit, range(50)))
        await until(lambda: up.open == 0, SOON)
        await quiet(running)
        told = await running.metrics()
        assert told['retrace_client_gone_total{surface="chat"}'] == 50


async def test_C44_official_sdk_closes_its_stream(tmp_path: Path) -> None:
    async with (
        upstream(endless) as (url, up),
        gateway(tmp_path, [url], [regex("bomb")]) as running,
        openai.AsyncOpenAI(base_url=f"{running.url}/v1", api_key="x") as client,
    ):
        stream = await client.chat.completions.create(
            model="m", messages=[{"role": "user", "content": "hi"}], stream=True
        )
        async for _ in stream:
            break
        left = time.perf_counter()
        await stream.close()
        await gone(running, up, left)


async def test_C42_official_sdk_times_out(tmp_path: Path) -> None:
    async with upstream(silent) as (url, up), gateway(tmp_path, [url]) as running:
        async with openai.AsyncOpenAI(base_url=f"{running.url}/v1", api_key="x", timeout=0.2, max_retries=0) as client:
            with pytest.raises(openai.APITimeoutError):
                await client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])
        left = time.perf_counter()
        await gone(running, up, left)


async def test_C44_a_halted_answer_ends_the_upstreams_work_too(tmp_path: Path) -> None:
    """Nobody wants what comes after a block."""
    rules = [regex("word word word word")]
    async with upstream(endless) as (url, up), gateway(tmp_path, [url], rules) as running:
        await running.ask("/v1/chat/completions", {**CHAT, "stream": True})
        await asyncio.wait_for(up.calls[-1].closed.wait(), SOON)
        await quiet(running)
