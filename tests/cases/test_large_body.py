"""Cases on large bodies, and on what they point to."""

from __future__ import annotations

import asyncio
import base64
import gzip
import io
import os
import time
from pathlib import Path
from typing import Any

import orjson
import psutil
import pytest

from tests.rig import (
    CHAT,
    answered,
    answers,
    completion,
    gateway,
    post,
    quiet,
    raw_answer,
    regex,
    response,
    shaped,
    silent,
    stream_head,
    upstream,
    wire,
)

GUARD = [regex("bomb", side="input", id="in"), regex("bomb", action="mask")]


def pictures(url: str) -> dict[str, Any]:
    parts = [{"type": "text", "text": "what is this?"}, {"type": "image_url", "image_url": {"url": url}}]
    return {"model": "m", "messages": [{"role": "user", "content": parts}]}


async def test_C53_the_gateway_never_fetches_what_a_request_points_to(tmp_path: Path) -> None:
    async with (
        upstream(silent) as (images, image_host),
        upstream(answers(completion("a cat"))) as (url, up),
        gateway(tmp_path, [url], GUARD) as running,
    ):
        for asked in (pictures(f"{images}/8-seconds.png"), pictures(f"{images}/x?data=bomb")):
            response_ = await running.http.post(f"{running.url}/v1/chat/completions", json=asked)
            assert response_.status == 200
            await response_.read()
        assert up.calls[0].json == pictures(f"{images}/8-seconds.png")
        assert image_host.seen == []


async def test_C53_health_answers_at_once_under_large_requests(tmp_path: Path) -> None:
    picture = "data:image/png;base64," + base64.b64encode(os.urandom(4 << 20)).decode()
    body = orjson.dumps(pictures(picture))
    async with upstream(answers(completion("a cat"))) as (url, up), gateway(tmp_path, [url], GUARD) as running:

        async def ask() -> None:
            async with running.http.post(f"{running.url}/v1/chat/completions", data=io.BytesIO(body)) as answer:
                assert answer.status == 200

        asking = asyncio.gather(*(ask() for _ in range(4)))
        slowest = 0.0
        while not asking.done():
            began = time.perf_counter()
            async with running.http.get(f"{running.url}/healthz") as health:
                assert health.status == 200
            slowest = max(slowest, time.perf_counter() - began)
        await asking
        assert slowest < 0.5  # the test's own client and upstream share the loop
        assert len(up.calls) == 4
        assert up.calls[0].body == body


BIG = 50 << 20


async def test_C53_a_body_over_the_limit_is_refused_before_it_is_read(tmp_path: Path) -> None:
    async with upstream(answers(completion("x"))) as (url, up), gateway(tmp_path, [url], GUARD) as running:
        began = time.perf_counter()
        status, headers, body = await answered(running, post(CHAT, content_length=str(BIG)))
        assert status == 413
        assert shaped(body)["code"] == "request_too_large"
        assert headers["connection"] == "close"
        assert time.perf_counter() - began < 1
        assert up.calls == []
        await quiet(running)


@pytest.mark.parametrize("way", ["chunked", "length", "gzip", "small gzip"])
async def test_C53_and_without_a_length_as_soon_as_it_is_over(tmp_path: Path, way: str) -> None:
    before = psutil.Process().memory_info().rss
    async with (
        upstream(answers(completion("x"))) as (url, up),
        gateway(tmp_path, [url], GUARD, limits={"body_bytes": 1 << 20}) as running,
        wire(running) as (reader, writer),
    ):
        if "gzip" in way:
            packed = gzip.compress(b" " * (BIG if way == "gzip" else 3 << 20))
            writer.write(post(packed, content_encoding="gzip"))
        elif way == "length":
            writer.write(post(b"x" * (2 << 20)))
        else:
            writer.write(post(b"", transfer_encoding="chunked").replace(b"content-length: 0\r\n", b""))
            piece = b"10000\r\n" + b"x" * (1 << 16) + b"\r\n"
            for _ in range(BIG >> 16):
                writer.write(piece)
                await asyncio.sleep(0)
                if writer.is_closing():
                    break
        status, _, body = await asyncio.wait_for(response(reader), 5)
        assert status == 413
        assert shaped(body)["code"] == "request_too_large"
        assert up.calls == []
        await quiet(running)
    assert psutil.Process().memory_info().rss - before < 160 << 20


async def test_C53_one_who_waits_for_100_continue_gets_it_or_the_refusal(tmp_path: Path) -> None:
    async with upstream(answers(completion("x"))) as (url, _), gateway(tmp_path, [url], GUARD) as running:
        raw = post(CHAT, expect="100-continue")
        head, _, body = raw.partition(b"\r\n\r\n")
        async with wire(running) as (reader, writer), asyncio.timeout(3):
            writer.write(head + b"\r\n\r\n")
            assert await reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
            writer.write(body)
            assert (await response(reader))[0] == 200
        async with wire(running) as (reader, writer), asyncio.timeout(3):
            writer.write(post(b"", expect="100-continue", content_length=str(BIG)))
            assert (await response(reader))[0] == 413


@pytest.mark.parametrize("sent", ["nothing", "half", "drop by drop"])
async def test_C53_a_length_that_never_comes_true_ends_in_time(tmp_path: Path, sent: str) -> None:
    async with (
        upstream(answers(completion("x"))) as (url, up),
        gateway(tmp_path, [url], GUARD, limits={"body_seconds": 0.3}) as running,
        wire(running) as (reader, writer),
    ):
        head, _, body = post(CHAT, content_length="1000").partition(b"\r\n\r\n")
        writer.write(head + b"\r\n\r\n" + (body if sent == "half" else b""))

        async def drip() -> None:
            while sent == "drop by drop":
                writer.write(b" ")
                await asyncio.sleep(0.02)

        dripping = asyncio.create_task(drip())
        began = time.perf_counter()
        status, headers, told = await asyncio.wait_for(response(reader), 3)
        dripping.cancel()
        assert status == 408
        assert 0.2 < time.perf_counter() - began < 1.5
        assert shaped(told)["code"] == "body_timeout"
        assert headers["connection"] == "close"
        assert up.calls == []
        await quiet(running)


async def test_C53_a_length_that_is_too_short_hurts_only_its_sender(tmp_path: Path) -> None:
    async with upstream(answers(completion("x"))) as (url, up), gateway(tmp_path, [url], GUARD) as running:
        status, _, body = await answered(running, post(CHAT, content_length="10"))
        assert status == 400
        assert b"JSON" in body or b"Invalid" in body
        assert up.calls == []
        await quiet(running)


async def test_C53_an_answer_over_the_limit_is_an_error(tmp_path: Path) -> None:
    async def flood(seen: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(stream_head({"content-type": "application/json"}))
        while True:
            writer.write(b"10000\r\n" + b" " * (1 << 16) + b"\r\n")
            await writer.drain()

    async with upstream(flood) as (url, up), gateway(tmp_path, [url], limits={"answer_bytes": 1 << 20}) as running:
        for path in ("/v1/chat/completions", "/v1/embeddings"):
            async with running.http.post(f"{running.url}{path}", json=CHAT) as answer:
                assert answer.status == 502
                assert "larger than" in shaped(await answer.read())["message"]
            await asyncio.wait_for(up.calls[-1].closed.wait(), 1)
        await quiet(running)


MUCH = {"text_chars": 4 << 20}


async def test_C53_large_answers_and_requests_go_through_whole(tmp_path: Path) -> None:
    text = "0123456789abcde\n" * (1 << 17)  # 2 MiB
    async with (
        upstream(answers(completion(text))) as (url, up),
        gateway(tmp_path, [url], GUARD, limits=MUCH) as running,
    ):
        body = orjson.dumps({"model": "m", "messages": [{"role": "user", "content": text}]})
        async with running.http.post(f"{running.url}/v1/chat/completions", data=io.BytesIO(body)) as answer:
            assert answer.status == 200
            assert await answer.read() == completion(text)
        assert up.calls[0].body == body


async def test_C53_large_bodies_are_sent_again_whole_when_a_replica_fails(tmp_path: Path) -> None:
    body = orjson.dumps({"model": "m", "messages": [{"role": "user", "content": "x" * (1 << 21)}]})
    async with (
        upstream(raw_answer(b"")) as (dead, dead_up),
        upstream(answers(completion("hi"))) as (url, up),
        gateway(tmp_path, [dead, url], GUARD, limits=MUCH) as running,
    ):
        async with running.http.post(f"{running.url}/v1/chat/completions", data=io.BytesIO(body)) as answer:
            assert answer.status == 200
        assert [len(each.calls[-1].body) for each in (dead_up, up)] == [len(body)] * 2
