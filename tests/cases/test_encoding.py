"""Cases on compressed answers: asked for plain, understood when they come compressed all the same."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.rig import (
    CHAT,
    PROMPT,
    Seen,
    answered,
    answers,
    chat_stream,
    chunk,
    completion,
    gateway,
    payloads,
    post,
    quiet,
    raw_answer,
    regex,
    said,
    shaped,
    stream_head,
    streams,
    text_stream,
    upstream,
)

MASK = [regex("secret", action="mask")]
WANTS = {"accept-encoding": "gzip, br, zstd, deflate"}
TOKENS = 'retrace_tokens_total{kind="completion",tenant="default"}'


def pressed(name: str, data: bytes) -> bytes:
    if name == "gzip":
        return gzip.compress(data)
    return zlib.compress(data)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/completions", "/v1/embeddings"])
async def test_C55_the_upstream_is_asked_for_plain_text(tmp_path: Path, path: str, stream: bool) -> None:
    async with upstream(answers(completion("hi"))) as (url, up), gateway(tmp_path, [url]) as running:
        await running.ask(path, {**CHAT, **PROMPT, "stream": stream}, WANTS)
        assert up.calls[-1].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
@pytest.mark.parametrize("surface", ["chat", "completions"])
@pytest.mark.parametrize("way", ["whole", "each event flushed", "byte by byte", "flushed anywhere"])
async def test_C55_a_compressed_stream_is_read_and_judged(tmp_path: Path, way: str, surface: str, coding: str) -> None:
    path, body = ("/v1/chat/completions", CHAT) if surface == "chat" else ("/v1/completions", PROMPT)
    events = (chat_stream if surface == "chat" else text_stream)("a sec", "ret 你好🙂", " end")
    press = zlib.compressobj(wbits=31 if coding == "gzip" else 15)
    flushed = [press.compress(event) + press.flush(zlib.Z_SYNC_FLUSH) for event in events] + [press.flush()]
    whole = pressed(coding, b"".join(events))
    pieces = {
        "whole": [whole],
        "each event flushed": flushed,
        "byte by byte": [whole[place : place + 1] for place in range(len(whole))],
        "flushed anywhere": [b"".join(flushed)[place : place + 7] for place in range(0, len(b"".join(flushed)), 7)],
    }[way]
    async with (
        upstream(streams(pieces, headers={"content-encoding": coding})) as (url, _),
        gateway(tmp_path, [url], MASK) as running,
    ):
        async with running.http.post(f"{running.url}{path}", json={**body, "stream": True}, headers=WANTS) as response:
            assert "content-encoding" not in response.headers
            got = await response.read()
        told = await running.metrics()
        await quiet(running)
    text = said(got) if surface == "chat" else "".join(c["text"] for p in payloads(got)[:-1] for c in p["choices"])
    assert text == "a *** 你好🙂 end"
    assert payloads(got)[-1] == "[DONE]"
    assert told[TOKENS] == 5


async def test_C55_each_flushed_event_leaves_at_once(tmp_path: Path) -> None:
    events = chat_stream("one ", "two ")
    press = zlib.compressobj(wbits=31)
    go = asyncio.Event()

    async def script(_seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(stream_head({"content-encoding": "gzip"}))
        writer.write(chunk(press.compress(b"".join(events[:2])) + press.flush(zlib.Z_SYNC_FLUSH)))
        await go.wait()
        writer.write(chunk(press.compress(b"".join(events[2:])) + press.flush()) + chunk(b""))

    async with upstream(script) as (url, _), gateway(tmp_path, [url], MASK) as running:
        response = await running.chat(stream=True)
        first = await asyncio.wait_for(response.content.readany(), 2)
        assert said(first) == "one "
        go.set()
        assert said(await response.read()) == "two "


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
@pytest.mark.parametrize("status", [200, 429])
async def test_C56_a_compressed_body_is_read_judged_and_counted(tmp_path: Path, status: int, coding: str) -> None:
    error = b'{"error":{"message":"slow down","type":"x","param":null,"code":null}}'
    for path, body in (("/v1/chat/completions", CHAT), ("/v1/embeddings", {"model": "m"})):
        plain = completion("a secret") if status == 200 else error
        script = answers(pressed(coding, plain), status, {"content-encoding": coding})
        async with upstream(script) as (url, _), gateway(tmp_path, [url], MASK) as running:
            async with running.http.post(f"{running.url}{path}", json=body, headers=WANTS) as response:
                assert response.status == status
                assert "content-encoding" not in response.headers
                got = await response.read()
                assert response.headers["content-length"] == str(len(got))
            judged = status == 200 and "chat" in path
            assert got == (plain.replace(b"secret", b"***") if judged else plain)
            assert (TOKENS in await running.metrics()) is judged
            await quiet(running)


BAD: dict[str, tuple[bytes, str]] = {
    "no gzip at all": (b"plain text, not compressed", "gzip"),
    "cut short": (gzip.compress(completion("hi" * 500))[:-30], "gzip"),
    "corrupt": (gzip.compress(completion("hi" * 500))[:20] + b"\xff" * 40, "gzip"),
    "brotli": (b"\x0b\x02\x80hello\x03", "br"),
    "unknown": (b"\x00\x01\x02", "x-made-up"),
    "twice": (gzip.compress(gzip.compress(completion("hi"))), "gzip, gzip"),
}


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("bad", BAD)
async def test_C55_what_cannot_be_decoded_is_an_error_and_no_empty_answer(
    tmp_path: Path, bad: str, stream: bool
) -> None:
    raw, coding = BAD[bad]
    kind = "text/event-stream" if stream else "application/json"
    script = answers(raw, 200, {"content-encoding": coding, "content-type": kind})
    async with upstream(script) as (url, _), gateway(tmp_path, [url], MASK, backend={"retries": 0}) as running:
        response = await running.chat(stream=stream)
        got = await response.read()
        if response.status == 200:
            assert stream
            assert payloads(got)[-1]["error"]["code"] == "upstream_error"
        else:
            assert response.status == 502
            assert shaped(got)["code"] == "upstream_error"
        await quiet(running)


async def test_C55_a_stream_cut_in_its_compression_ends_with_an_error(tmp_path: Path) -> None:
    events = b"".join(chat_stream("one ", "two ", done=False))
    press = zlib.compressobj(wbits=31)
    begun = press.compress(events[:300]) + press.flush(zlib.Z_SYNC_FLUSH)
    head = stream_head({"content-encoding": "gzip"})
    for rest in (b"", chunk(b""), chunk(b"\xff" * 50) + chunk(b"")):
        async with upstream(raw_answer(head, chunk(begun), rest)) as (url, _), gateway(tmp_path, [url]) as running:
            got = await running.ask("/v1/chat/completions", {**CHAT, "stream": True})
            assert payloads(got)[-1]["error"]["code"] == "upstream_error"
            await quiet(running)


async def test_C56_a_compressed_request_is_judged_too(tmp_path: Path) -> None:
    rules = [regex("secret", side="input")]
    async with upstream(answers(completion("hi"))) as (url, up), gateway(tmp_path, [url], rules) as running:
        for text, status in (("a secret", 400), ("fine", 200)):
            body: Any = gzip.compress(orjson.dumps({**CHAT, "messages": [{"role": "user", "content": text}]}))
            headers = {"content-encoding": "gzip", "content-type": "application/json"}
            async with running.http.post(f"{running.url}/v1/chat/completions", data=body, headers=headers) as response:
                assert response.status == status
        assert up.calls[-1].json["messages"][0]["content"] == "fine"
        assert "content-encoding" not in up.calls[-1].headers


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd", "gzip, gzip"])
async def test_C56_a_request_that_cannot_be_decoded_is_a_400(tmp_path: Path, coding: str) -> None:
    async with upstream(answers(completion("hi"))) as (url, up), gateway(tmp_path, [url]) as running:
        plain = orjson.dumps(CHAT)
        for raw in (plain, gzip.compress(plain)[:-12], gzip.compress(plain)[:12] + b"\xff" * 30, b""):
            status, _, body = await answered(running, post(raw, content_encoding=coding))
            harmless = coding == "gzip, gzip" and raw == plain  # taken as the plain text that it is
            assert status == (200 if harmless else 400), (coding, raw, body)
        assert all(call.body == plain for call in up.calls)
        await quiet(running)
