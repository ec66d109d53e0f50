"""Cases on how a stream is cut into events, and on what stands between them."""

from __future__ import annotations

import asyncio
import itertools
import random
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.rig import (
    CHAT,
    DONE,
    PROMPT,
    RawUpstream,
    Running,
    Script,
    Seen,
    chat_stream,
    chunk,
    delta,
    event,
    gateway,
    payloads,
    quiet,
    raw_answer,
    regex,
    said,
    stream_head,
    streams,
    text_stream,
    upstream,
    usage_event,
)

TEXT = "你好🙂 Grüße — e\u0301 ok。"
STREAM: dict[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
GUARDS: dict[str, list[dict[str, Any]]] = {"open": [], "guarded": [regex("forbidden", action="mask")]}
SURFACES: dict[str, tuple[str, dict[str, Any], list[bytes]]] = {
    "chat": ("/v1/chat/completions", {**CHAT, **STREAM}, chat_stream(TEXT, "二🙂", "。")),
    "completions": ("/v1/completions", {**PROMPT, **STREAM}, text_stream(TEXT, "二🙂", "。")),
}


def cut(data: bytes, *places: int) -> list[bytes]:
    edges = [0, *sorted(places), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(edges) if end > start]


def every(data: bytes, size: int) -> list[bytes]:
    return [data[place : place + size] for place in range(0, len(data), size)]


async def each(
    running: Running, up: RawUpstream, scripts: list[Script], path: str, body: dict[str, Any]
) -> list[bytes]:
    """What clients got that asked all at once, each answered by its own script."""

    async def by_user(seen: Seen, writer: asyncio.StreamWriter) -> None:
        await scripts[int(seen.json["user"])](seen, writer)

    up.script = by_user
    return await asyncio.gather(*(running.ask(path, {**body, "user": str(n)}) for n in range(len(scripts))))


@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize("surface", SURFACES)
async def test_C00_no_split_of_a_character_hurts_it(tmp_path: Path, surface: str, guard: str) -> None:
    path, body, events = SURFACES[surface]
    whole = b"".join(events)
    texts = len(b"".join(events[:3]))
    pieces = [every(whole, size) for size in (1, 2, 3)] + [cut(whole, place) for place in range(1, texts)]
    async with upstream(streams([])) as (url, up), gateway(tmp_path, [url], GUARDS[guard]) as running:
        for got in await each(running, up, [streams(cuts) for cuts in pieces], path, body):
            assert got == whole
        await quiet(running)


async def test_C00_no_split_of_the_wire_itself_hurts(tmp_path: Path) -> None:
    path, body, events = SURFACES["chat"]
    wire = stream_head() + b"".join(map(chunk, [*events, b""]))
    async with upstream(streams([])) as (url, up), gateway(tmp_path, [url], GUARDS["guarded"]) as running:
        scripts = [raw_answer(*cut(wire, place), close=False) for place in range(1, len(wire), 3)]
        for got in await each(running, up, scripts, path, body):
            assert got == b"".join(events)


@pytest.mark.parametrize("asked", [True, False])
async def test_C01_usage_is_booked_once_wherever_its_event_is_cut(tmp_path: Path, asked: bool) -> None:
    head, tail = b"".join(chat_stream("a", "b", done=False)[:-1]), usage_event() + DONE
    body = {**CHAT, "stream": True, "stream_options": {"include_usage": asked}}
    scripts = [streams([head, *cut(tail, place)]) for place in range(1, len(tail))]
    async with upstream(streams([])) as (url, up), gateway(tmp_path, [url], GUARDS["guarded"]) as running:
        for got in await each(running, up, scripts, "/v1/chat/completions", body):
            assert got == (head + tail if asked else head + DONE)
        told = await running.metrics()
    assert told['retrace_tokens_total{kind="prompt",tenant="default"}'] == 7 * len(scripts)
    assert told['retrace_tokens_total{kind="completion",tenant="default"}'] == 5 * len(scripts)


@pytest.mark.parametrize("ids", [b"", b"id: 7\n"])
async def test_C03_a_keep_alive_is_no_event_to_a_strict_client(tmp_path: Path, ids: bytes) -> None:
    events = [ids + item for item in chat_stream("Hel", "lo")]

    async def slow(seen: Any, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.2)
        await streams(events, pause=0.02)(seen, writer)

    limits = {"keep_alive_seconds": 0.03}
    async with upstream(slow) as (url, _), gateway(tmp_path, [url], limits=limits) as running:
        raw = await running.ask("/v1/chat/completions", {**CHAT, "stream": True})
        before, _, _ = raw.partition(b"data: ")
        assert before.count(b"\n") >= 3
        assert all(line.startswith(b":") for line in before.splitlines()), before
        async with openai.AsyncOpenAI(base_url=f"{running.url}/v1", api_key="x") as client:
            stream = await client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": "hi"}], stream=True
            )
            texts = [part.choices[0].delta.content or "" async for part in stream]
        assert "".join(texts) == "Hello"
        await quiet(running)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("guard", GUARDS)
async def test_C05_control_lines_of_the_upstream_stay_behind(tmp_path: Path, guard: str, end: bytes) -> None:
    events = chat_stream("one ", "two ", "three")
    lines = [b"id: 1", b"event: message", b"retry: 3000", b": a comment", b"unknown: x", b"data-not: y"]
    dressed = []
    for number, item in enumerate(events):
        around = lines[number % len(lines) :] + lines[: number % len(lines)]
        dressed.append(b"\n".join([*around[:3], item.rstrip(b"\n"), *around[3:], b"", b""]).replace(b"\n", end))
    alone = [b"event: ping\n\n", b": hello\n\n", b"id: 9\n\n\n\n", b"retry: 1\n\n"]
    mixed = [b"".join(pair) for pair in zip([*alone, *alone], dressed, strict=False)]
    async with (
        upstream(streams([b"\xef\xbb\xbf", *mixed])) as (url, _),
        gateway(tmp_path, [url], GUARDS[guard]) as running,
    ):
        assert await running.ask("/v1/chat/completions", {**CHAT, **STREAM}) == b"".join(events)


async def test_C05_data_of_several_lines_stays_one_event(tmp_path: Path) -> None:
    first = delta("a b ")
    split = first.replace(b', "', b',"').replace(b',"choices"', b',\ndata:"choices"')
    events = [split, delta(finish="stop"), DONE]
    async with upstream(streams(events)) as (url, _), gateway(tmp_path, [url]) as running:
        got = await running.ask("/v1/chat/completions", {**CHAT, **STREAM})
    lines = [line for line in got.split(b"\n") if line]
    assert all(line.startswith(b"data: ") for line in lines)
    assert len(lines) == 4  # the first event has two


@pytest.mark.parametrize("asked", [True, False, None])
@pytest.mark.parametrize("masks", [True, False])
async def test_C07_neighbours_in_one_delivery_keep_their_frames(
    tmp_path: Path, asked: bool | None, masks: bool
) -> None:
    events = chat_stream("it is forbidden", " here")
    body = {**CHAT, "stream": True, **({} if asked is None else {"stream_options": {"include_usage": asked}})}
    expected = [event for event in events if asked or b'"usage"' not in event]
    if masks:
        expected[1] = expected[1].replace(b"forbidden", b"***")
    for together in (events, [b"".join(events[:3]), b"".join(events[3:])], [b"".join(events)]):
        rules = GUARDS["guarded"] if masks else []
        async with upstream(streams(together)) as (url, _), gateway(tmp_path, [url], rules) as running:
            assert await running.ask("/v1/chat/completions", body) == b"".join(expected)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
async def test_C08_random_cuts_lose_no_event(tmp_path: Path, end: bytes) -> None:
    dice = random.Random(8)
    events = chat_stream(*(f"word{n} " for n in range(40)))
    endings = [
        [*events[:-1], DONE],
        events[:-1],
        [*events[:-1], DONE.rstrip(b"\n")],
        [*events[:-2], events[-2].rstrip()],
    ]
    scripts, expected = [], b"".join(events)
    for number in range(40):
        whole = b"".join(endings[number % len(endings)]).replace(b"\n", end)
        places = dice.sample(range(1, len(whole)), dice.randint(1, 30))
        scripts.append(streams(cut(whole, *places)))
    async with upstream(streams([])) as (url, up), gateway(tmp_path, [url], GUARDS["guarded"]) as running:
        for got in await each(running, up, scripts, "/v1/chat/completions", {**CHAT, **STREAM}):
            assert got == expected  # and [DONE] is there, since the answer was complete
        await quiet(running)


async def test_C08_the_tail_that_waits_for_its_end_is_bounded(tmp_path: Path) -> None:
    async def endless(_seen: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(stream_head() + chunk(delta("begun ")) + chunk(b'data: {"choices": "'))
        while True:
            writer.write(chunk(b"x" * (1 << 18)))
            await writer.drain()

    async with upstream(endless) as (url, up), gateway(tmp_path, [url]) as running:
        got = await running.ask("/v1/chat/completions", {**CHAT, **STREAM})
        assert said(got) == "begun "
        assert payloads(got)[-1]["error"]["code"] == "upstream_error"
        await asyncio.wait_for(up.seen[-1].closed.wait(), 2)
        await quiet(running)


ODD = {
    "usage only": event([], usage={"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}),
    "azure first": event([], prompt_filter_results=[{"prompt_index": 0, "content_filter_results": {}}]),
    "choices null": b'data: {"id":"c","choices":null}\n\n',
    "no choices": b'data: {"id":"c"}\n\n',
    "empty object": b"data: {}\n\n",
    "delta null": b'data: {"choices":[{"index":0,"delta":null,"finish_reason":null}]}\n\n',
    "no delta": b'data: {"choices":[{"index":0,"finish_reason":null}]}\n\n',
    "usage null": b'data: {"choices":[{"index":0,"delta":{},"finish_reason":null}],"usage":null}\n\n',
}


@pytest.mark.parametrize("guard", ["open", "guarded", "block"])
@pytest.mark.parametrize("case", ["C09", "C10"])
async def test_C09_C10_chunks_without_choices_pass_any_guard(tmp_path: Path, case: str, guard: str) -> None:
    rules = {**GUARDS, "block": [regex("forbidden"), regex("mail", id="m", action="tag")]}[guard]
    events = chat_stream("one ", "two", done=False)
    for odd in ODD.values():
        sent = [odd, *events, DONE] if case == "C10" else [*events[:-1], odd, DONE]
        async with upstream(streams(sent)) as (url, _), gateway(tmp_path, [url], rules) as running:
            got = await running.ask("/v1/chat/completions", {**CHAT, **STREAM})
            assert got == b"".join(sent)
            await quiet(running)


async def test_C09_the_usage_chunk_is_seen_only_by_whom_it_was_asked_for(tmp_path: Path) -> None:
    sent = [*chat_stream("one", done=False), DONE]
    async with upstream(streams(sent)) as (url, _), gateway(tmp_path, [url], GUARDS["guarded"]) as running:
        assert b'"usage"' in await running.ask("/v1/chat/completions", {**CHAT, **STREAM})
        assert b'"usage"' not in await running.ask("/v1/chat/completions", {**CHAT, "stream": True})
        told = await running.metrics()
    assert told['retrace_tokens_total{kind="completion",tenant="default"}'] == 10
