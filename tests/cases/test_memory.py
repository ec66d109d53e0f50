"""Cases on memory over time: what an exchange used is given back, whatever became of it."""

from __future__ import annotations

import asyncio
import gc
import io
import os
import threading
from pathlib import Path

import orjson
import psutil
import pytest

from tests.rig import (
    CHAT,
    DONE,
    RawUpstream,
    Seen,
    chunk,
    delta,
    gateway,
    post,
    quiet,
    regex,
    rule,
    stream_head,
    streams,
    upstream,
    usage_event,
    wire,
)

RULES = [regex("forbidden word"), rule({"type": "pii"}, "mask"), regex("bomb", side="input", id="in")]
PARTS = [
    delta("", role="assistant"),
    *(delta(f"word{n} ") for n in range(8)),
    delta(finish="stop"),
    usage_event(),
    DONE,
]


def held(up: RawUpstream) -> float:
    """MiB that this process holds, less what the upstream of the test remembers."""
    up.seen.clear()
    gc.collect()
    return float(psutil.Process(os.getpid()).memory_info().rss) / (1 << 20)


@pytest.mark.long
async def test_C51_streams_leave_nothing_behind(tmp_path: Path) -> None:
    async with upstream(streams([b"".join(PARTS)])) as (url, up), gateway(tmp_path, [url], RULES) as running:

        async def some(count: int) -> None:
            for _ in range(count):
                await running.ask("/v1/chat/completions", {**CHAT, "stream": True})

        async def many(count: int) -> None:
            await asyncio.gather(*(some(count // 8) for _ in range(8)))

        await many(1600)
        before, threads, tasks = held(up), threading.active_count(), len(asyncio.all_tasks())
        await many(2400)
        await quiet(running)
        assert held(up) - before < 8  # less than 4 KiB a stream
        assert threading.active_count() <= threads + 2
        assert len(asyncio.all_tasks()) <= tasks + 8  # connections that are kept


@pytest.mark.long
async def test_C52_nor_do_clients_that_leave_or_upstreams_that_die(tmp_path: Path) -> None:
    async def dying(seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(stream_head() + chunk(delta("word " * 200)))
        if seen.json["user"] == "dies":
            writer.transport.abort()
        elif seen.json["user"] == "ends":
            writer.write(chunk(b""))
        else:
            await asyncio.Event().wait()

    async with upstream(dying) as (url, up), gateway(tmp_path, [url], RULES) as running:

        async def leave() -> None:
            async with wire(running) as (reader, writer):
                writer.write(post({**CHAT, "stream": True, "user": "leaves"}))
                await reader.readuntil(b"word ")

        async def round_(count: int) -> None:
            for _ in range(count):
                await asyncio.gather(
                    leave(),
                    running.ask("/v1/chat/completions", {**CHAT, "stream": True, "user": "dies"}),
                    running.ask("/v1/chat/completions", {**CHAT, "stream": True, "user": "ends"}),
                )
            await quiet(running)

        await round_(150)
        before = held(up)
        await round_(450)
        assert held(up) - before < 6


async def test_C52_what_clients_name_fills_no_cache(tmp_path: Path) -> None:
    """Long and ever new names of models, roles and users are words of clients: nothing may keep them."""
    async with upstream(streams([DONE])) as (url, up), gateway(tmp_path, [url], RULES) as running:

        async def ask(number: int) -> None:
            long = f"{number}-" + "x" * (1 << 19)
            body = {"model": long, "user": long, "messages": [{"role": long, "content": "hi"}]}
            async with running.http.post(
                f"{running.url}/v1/chat/completions", data=io.BytesIO(orjson.dumps(body))
            ) as response:
                await response.read()

        for number in range(20):
            await ask(number)
        before = held(up)
        for number in range(20, 120):
            await ask(number)
        await quiet(running)
        assert held(up) - before < 16
