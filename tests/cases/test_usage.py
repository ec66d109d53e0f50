"""Cases on token counts: always booked, shown only to whom asked."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.rig import (
    CHAT,
    DONE,
    PROMPT,
    Seen,
    chat_stream,
    completion,
    delta,
    event,
    gateway,
    http,
    payloads,
    quiet,
    regex,
    said,
    streams,
    text_stream,
    upstream,
)

USAGE = {
    "prompt_tokens": 7,
    "completion_tokens": 5,
    "total_tokens": 12,
    "prompt_tokens_details": {"cached_tokens": 3},
}


def one(text: str | None = None, finish: str | None = None, **usage: Any) -> bytes:
    """A chunk with a choice and with usage."""
    said_now = {} if text is None else {"content": text}
    return event([{"index": 0, "delta": said_now, "finish_reason": finish}], usage={**USAGE, **usage})


ENDS: dict[str, list[bytes]] = {
    "usage alone": [delta(finish="stop"), event([], usage=USAGE)],
    "beside an empty delta": [delta(finish="stop"), one()],
    "beside the finish": [one(finish="stop")],
    "beside content": [one("!", "stop")],
    "on every chunk": [one("!", completion_tokens=4), one(finish="stop")],
    "null before": [event([{"index": 0, "delta": {}, "finish_reason": "stop"}], usage=None), event([], usage=USAGE)],
}
COUNTED = (
    'retrace_tokens_total{kind="prompt",tenant="default"}',
    'retrace_tokens_total{kind="completion",tenant="default"}',
)


@pytest.mark.parametrize("guarded", [True, False])
@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("end", ENDS)
async def test_C12_usage_counts_wherever_it_stands(tmp_path: Path, end: str, asked: bool, guarded: bool) -> None:
    events = [delta("hi", role="assistant"), *ENDS[end], DONE]
    rules = [regex("bomb", action="mask")] if guarded else []
    body = {**CHAT, "stream": True, "stream_options": {"include_usage": asked}}
    async with upstream(streams(events)) as (url, _), gateway(tmp_path, [url], rules) as running:
        got = await running.ask("/v1/chat/completions", body)
        told = await running.metrics()
    assert [told[name] for name in COUNTED] == [7, 5]
    assert said(got) == said(b"".join(events))
    if asked:
        assert got == b"".join(events)
    else:
        assert not any(chunk.get("usage") for chunk in payloads(got)[:-1])
        assert [c["choices"][0]["finish_reason"] for c in payloads(got)[:-1] if c["choices"]].count("stop") == 1


OPTIONS: dict[str, dict[str, Any]] = {
    "left out": {},
    "null": {"stream_options": None},
    "empty": {"stream_options": {}},
    "true": {"stream_options": {"include_usage": True}},
    "false": {"stream_options": {"include_usage": False}},
    "with others": {"stream_options": {"continuous_usage_stats": False, "include_usage": True}},
}


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("surface", ["chat", "completions"])
async def test_C13_usage_is_always_asked_for_and_shown_only_on_demand(
    tmp_path: Path, surface: str, options: str
) -> None:
    path = "/v1/chat/completions" if surface == "chat" else "/v1/completions"
    asked = {**(CHAT if surface == "chat" else PROMPT), **OPTIONS[options]}
    wants = options in ("true", "with others")
    events = chat_stream("a", "b") if surface == "chat" else text_stream("a", "b")
    async with upstream(streams(events)) as (url, up), gateway(tmp_path, [url]) as running:
        got = await running.ask(path, {**asked, "stream": True})
        told = await running.metrics()
    assert [told[name] for name in COUNTED] == [7, 5]
    assert (b'"usage"' in got) is wants
    sent = up.calls[-1].json
    assert sent["stream_options"]["include_usage"] is True
    given = OPTIONS[options].get("stream_options") or {}
    assert {**given, "include_usage": True} == sent["stream_options"]


async def test_C13_an_answer_in_one_piece_shows_its_usage_and_asks_for_nothing(tmp_path: Path) -> None:
    async def script(seen: Seen, writer: asyncio.StreamWriter) -> None:
        assert "stream_options" not in seen.json
        writer.write(http(completion("hi")))

    async with upstream(script) as (url, _), gateway(tmp_path, [url]) as running:
        got = await running.ask("/v1/chat/completions", CHAT)
        told = await running.metrics()
    assert got == completion("hi")
    assert [told[name] for name in COUNTED] == [7, 5]


REFUSALS = {
    "openai": b'{"error":{"message":"Unrecognized request argument: stream_options","type":"invalid_request_error"}}',
    "fastapi": b'{"detail":[{"loc":["body","stream_options"],"msg":"extra fields not permitted"}]}',
    "text": b"stream_options is not supported",
}


@pytest.mark.parametrize("refusal", REFUSALS)
async def test_C13_a_backend_that_refuses_stream_options_is_asked_without(tmp_path: Path, refusal: str) -> None:
    async def script(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if "stream_options" in seen.json:
            writer.write(http(REFUSALS[refusal], 400))
        else:
            await streams([*chat_stream("ok", done=False)[:-1], DONE])(seen, writer)

    async with upstream(script) as (url, up), gateway(tmp_path, [url]) as running:
        for expected_calls in (2, 3, 4):  # learnt at the first request, remembered at the next
            assert said(await running.ask("/v1/chat/completions", {**CHAT, "stream": True})) == "ok"
            assert len(up.calls) == expected_calls
        wanting = {**CHAT, "stream": True, "stream_options": {"include_usage": True}}
        response = await running.chat(**wanting)
        assert response.status == 400  # the client asked for it, so the client is told
        assert (b"stream_options" in await response.read()) is (refusal != "text")
        await quiet(running)


async def test_C13_another_400_is_not_taken_for_that_refusal(tmp_path: Path) -> None:
    told = b'{"error":{"message":"max_tokens is too large","type":"invalid_request_error","param":null,"code":null}}'

    async def script(_seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(http(told, 400))

    async with upstream(script) as (url, up), gateway(tmp_path, [url]) as running:
        response = await running.chat(stream=True)
        assert (response.status, await response.read()) == (400, told)
        assert len(up.calls) == 1
        await quiet(running)


async def test_C13_usage_of_a_broken_off_or_halted_answer_is_booked_as_far_as_known(tmp_path: Path) -> None:
    running_usage = [one("x ", completion_tokens=count) for count in range(1, 4)]
    async with upstream(streams(running_usage)) as (url, _), gateway(tmp_path, [url]) as running:
        got = await running.ask("/v1/chat/completions", {**CHAT, "stream": True})
        assert "error" in payloads(got)[-1]
        told = await running.metrics()
        assert [told[name] for name in COUNTED] == [7, 3]


GARBAGE: list[Any] = [
    *(None, [], "many", 5, {}, {"prompt_tokens": "7"}, {"prompt_tokens": -1}, {"completion_tokens": 1.5}),
    {"prompt_tokens": None, "completion_tokens": None},
]


async def test_C12_counts_that_are_none_hurt_nobody(tmp_path: Path) -> None:
    answers_ = [orjson.dumps({**orjson.loads(completion("hi")), "usage": usage}) for usage in GARBAGE]
    answers_.append(completion("hi").replace(b'"prompt_tokens":7', b'"prompt_tokens":' + b"9" * 30))
    left = itertools.chain.from_iterable([a] for a in answers_)

    async def script(_seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(http(next(left)))

    async with upstream(script) as (url, _), gateway(tmp_path, [url]) as running:
        for expected in answers_:
            assert await running.ask("/v1/chat/completions", CHAT) == expected
        await quiet(running)
