"""Cases on what the chunks say: nothing is lost, nothing is added."""

from __future__ import annotations

import asyncio
import logging
import socket
from pathlib import Path
from typing import Any

import orjson
import pytest
from openai.types.chat import ChatCompletionChunk

from tests.rig import (
    CHAT,
    DONE,
    Seen,
    chunk,
    delta,
    event,
    gateway,
    payloads,
    post,
    quiet,
    regex,
    said,
    stream_head,
    streams,
    upstream,
    usage_event,
    wire,
    write_config,
)

STREAM: dict[str, Any] = {**CHAT, "stream": True}
RULES: dict[str, list[dict[str, Any]]] = {
    "none": [],
    "mask": [regex("secret", action="mask")],
    "block": [regex("deadly")],
}
ANSWER = [
    delta("", role="assistant"),
    *(delta(word) for word in ("my ", "sec", "ret is", " safe", " deadly ", "end")),
    delta(finish="stop"),
    DONE,
]


@pytest.mark.parametrize("rules", RULES)
async def test_C16_finish_reason_is_null_until_the_end_and_never_left_out(tmp_path: Path, rules: str) -> None:
    async with upstream(streams(ANSWER)) as (url, _), gateway(tmp_path, [url], RULES[rules]) as running:
        got = payloads(await running.ask("/v1/chat/completions", STREAM))
    assert got[-1] == "[DONE]"
    for part in got[:-1]:
        ChatCompletionChunk.model_validate(part)
        assert all("finish_reason" in choice for choice in part["choices"])
    reasons = [choice["finish_reason"] for part in got[:-1] for choice in part["choices"]]
    assert reasons[:-1] == [None] * (len(reasons) - 1)
    assert reasons[-1] == ("content_filter" if rules == "block" else "stop")


async def test_C16_a_missing_finish_reason_is_not_made_up_either(tmp_path: Path) -> None:
    bare = b'data: {"id":"c","choices":[{"index":0,"delta":{"content":"secret "}}]}\n\n'
    async with upstream(streams([bare, *ANSWER[-2:]])) as (url, _), gateway(tmp_path, [url], RULES["mask"]) as running:
        got = payloads(await running.ask("/v1/chat/completions", STREAM))
    assert got[0] == {"id": "c", "choices": [{"index": 0, "delta": {"content": "*** "}}]}


@pytest.mark.parametrize("where", ["own chunk", "on content", "with usage"])
@pytest.mark.parametrize("stream", [True, False])
async def test_C18_the_record_has_the_finish_reason_of_the_wire(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, where: str, stream: bool
) -> None:
    last = {
        "own chunk": [delta("tail"), delta(finish="length")],
        "on content": [delta("tail", finish="length")],
        "with usage": [event([{"index": 0, "delta": {"content": "tail"}, "finish_reason": "length"}], usage={})],
    }[where]
    events = [delta("one "), *last, usage_event(), DONE]
    if not stream:
        message = {"role": "assistant", "content": "one tail"}
        choice = {"index": 0, "message": message, "finish_reason": "length"}
        body = orjson.dumps({"id": "c", "choices": [choice], "usage": {"prompt_tokens": 7, "completion_tokens": 5}})
        events = [body]
    caplog.set_level(logging.DEBUG, "gateway.ledger")
    kind = {"content-type": "text/event-stream" if stream else "application/json"}
    async with upstream(streams(events, headers=kind)) as (url, _), gateway(tmp_path, [url]) as running:
        got = await running.ask("/v1/chat/completions", {**CHAT, "stream": stream})
        await quiet(running)
    assert b'"finish_reason":"length"' in got
    records = [orjson.loads(record.message) for record in caplog.records if record.name == "gateway.ledger"]
    assert [record["finish"] for record in records] == [{"0": "length"}]
    assert records[0]["usage"] == [7, 5]


async def test_C49_the_upstream_lives_until_a_slow_reader_has_the_last_byte(tmp_path: Path) -> None:
    words = [delta("x" * 1000 + " ") for _ in range(3000)]
    async with (
        upstream(streams([b"".join(words[:1500]), b"".join(words[1500:]), delta(finish="stop"), DONE])) as (url, _),
        gateway(tmp_path, [url], RULES["mask"]) as running,
        wire(running) as (reader, writer),
    ):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        writer.write(post({**CHAT, "stream": True}, connection="close"))
        await asyncio.sleep(0.3)  # nobody reads: the answer piles up on its way
        got = await asyncio.wait_for(reader.read(), 10)
        assert got.count(b"data: ") == 3002
        assert b"data: [DONE]\n\n" in got[-40:]
        await quiet(running)


async def test_C49_a_reload_of_the_backends_does_not_cut_the_answers_under_way(tmp_path: Path) -> None:
    go = asyncio.Event()

    async def slow(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.path == "/v1/models":
            return
        writer.write(stream_head() + chunk(delta("one ")))
        await go.wait()
        for item in (delta("two"), delta(finish="stop"), DONE, b""):
            writer.write(chunk(item))

    async with (
        upstream(slow) as (url, _),
        upstream(streams([delta("new", finish="stop"), DONE])) as (other, _),
        gateway(tmp_path, [url]) as running,
    ):
        old = await running.chat(stream=True)
        assert b"one " in await old.content.readany()
        revision = running.server.steward.house.revision
        write_config(tmp_path, [other], [])
        for _ in range(400):
            if running.server.steward.house.revision != revision:
                break
            await asyncio.sleep(0.01)
        assert said(await running.ask("/v1/chat/completions", STREAM)) == "new"
        go.set()
        assert said(await old.read()) == "two"
