"""What goes wrong is told on every surface as its official SDK raises it; who leaves is no longer worked for."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import anthropic
import openai
import pytest

from tests.answering import endless, says
from tests.dialects import ENDED, FOREIGN, PATHS, SURFACES, Told, before, clients, refused
from tests.refine.rigs import after
from tests.rig import (
    Running,
    Script,
    Seen,
    answers,
    chunk,
    delta,
    gateway,
    quiet,
    raw_answer,
    regex,
    silent,
    stream_head,
    text_delta,
    until,
    upstream,
)
from tests.surfaces.clients import parsed

surfaces = pytest.mark.parametrize("surface", SURFACES)
foreign = pytest.mark.parametrize("surface", FOREIGN)
streamed = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
ASKED: dict[str, dict[str, Any]] = {
    "chat": {"messages": [{"role": "user", "content": "hi"}]},
    "completions": {"prompt": "hi"},
    "responses": {"input": "hi"},
    "messages": {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 9},
}
LAST = (b"[DONE]", b"message_stop", b"response.completed", b"response.incomplete")  # what only a whole answer has


async def wire(running: Running, surface: str) -> bytes:
    """The very bytes of a stream."""
    return await running.ask(PATHS[surface], {**ASKED[surface], "model": "m", "stream": True})


@streamed
@surfaces
async def test_a_dead_upstream_is_told_with_its_status(tmp_path: Path, surface: str, stream: bool) -> None:
    async with before(tmp_path, raw_answer(b""), backend={"retries": 0}) as (sdks, _):
        with refused() as told:
            await sdks.ask(surface, stream)
    assert issubclass(told[0].raised, openai.InternalServerError | anthropic.InternalServerError)
    assert (told[0].status, told[0].code, told[0].said["type"]) == (502, "upstream_error", "api_error")


def dies(how: str) -> Script:
    """A stream that says half a word and ends as it should not."""

    async def script(seen: Seen, writer: asyncio.StreamWriter) -> None:
        half = chunk((delta if "chat" in seen.path else text_delta)("half "))
        ends: dict[str, list[bytes]] = {
            "cut in the body": [b""],
            "ends too early": [chunk(b"")],
            "garbage": [chunk(b"data: {{{\n\n"), chunk(b"")],
            "says so itself": [chunk(b'data: {"error": {"message": "out of memory", "code": 500}}\n\n'), chunk(b"")],
            "silent": [],
        }
        await raw_answer(stream_head(), half, *ends[how], hang=how == "silent")(seen, writer)

    return script


@surfaces
@pytest.mark.parametrize("how", ["cut in the body", "ends too early", "garbage", "says so itself", "silent"])
async def test_an_upstream_that_dies_in_the_stream_raises(tmp_path: Path, surface: str, how: str) -> None:
    async with before(tmp_path, dies(how), backend={"timeouts": {"idle": 0.2}}) as (sdks, up):
        with refused() as told:
            await sdks.ask(surface, True)
        assert told[0].message
        assert how != "says so itself" or told[0].message == "out of memory"
        got = await wire(sdks.running, surface)
        assert b"half " in got
        assert b"error" in got.rpartition(b"data: ")[2]
        assert not any(last in got for last in LAST)
        assert len(up.calls) == 2


ERRORS: dict[int, tuple[bytes, str, str]] = {
    400: (
        b'{"error":{"message":"max_tokens is too large","type":"BadRequestError","param":null,"code":400}}',
        *("max_tokens is too large", "invalid_request_error"),
    ),
    404: (b'{"error":{"message":"no such model","code":404}}', "no such model", "not_found_error"),
    422: (b'{"error":{"message":"bad shape"}}', "bad shape", "invalid_request_error"),
    429: (b'{"error":{"message":"slow down","type":"rate_limit"}}', "slow down", "rate_limit_error"),
    500: (b'{"error":{"message":"it crashed","code":500}}', "it crashed", "api_error"),
}


@streamed
@surfaces
@pytest.mark.parametrize("status", ERRORS)
async def test_an_upstream_s_error_is_told_with_its_status_and_words(
    tmp_path: Path, surface: str, stream: bool, status: int
) -> None:
    async with before(tmp_path, answers(ERRORS[status][0], status), backend={"retries": 0}) as (sdks, _):
        with refused() as told:
            await sdks.ask(surface, stream)
    _, words, kind = ERRORS[status]
    assert (told[0].status, told[0].message) == (status, words)
    assert surface != "messages" or told[0].said["type"] == kind


@streamed
@surfaces
async def test_an_error_that_nobody_can_read_is_told_as_one(tmp_path: Path, surface: str, stream: bool) -> None:
    async with before(tmp_path, answers(b"<html>oops", 429, {"content-type": "text/html"})) as (sdks, _):
        with refused() as told:
            await sdks.ask(surface, stream)
    assert (told[0].status, told[0].message) == (429, "the upstream answered with status 429 and no readable reason")
    assert surface != "messages" or told[0].said["type"] == "rate_limit_error"


@surfaces
async def test_a_rate_limit_is_honoured_by_the_client(tmp_path: Path, surface: str) -> None:
    seen = 0

    async def script(call: Seen, writer: asyncio.StreamWriter) -> None:
        nonlocal seen
        seen += 1
        limited = answers(ERRORS[429][0], 429, {"retry-after-ms": "20", "retry-after": "1"})
        await (limited if seen == 1 else says("hi"))(call, writer)

    async with upstream(script) as (url, up), gateway(tmp_path, [url]) as running:
        async with clients(running, max_retries=1) as sdks:
            assert (await sdks.ask(surface, True)).text == "hi"
        assert len(up.calls) == 2


@surfaces
async def test_a_blocked_prompt_is_not_tried_again(tmp_path: Path, surface: str) -> None:
    rules = [regex("bad", side="input", reason="R900")]  # a 503, which SDKs would try again
    async with upstream(says("x")) as (url, up), gateway(tmp_path, [url], rules) as running:
        async with clients(running, max_retries=3) as sdks:
            with refused() as told:
                await sdks.ask(surface, False, "bad")
            assert (told[0].status, told[0].reason, len(sdks.heads)) == (503, "R900", 1)
        assert up.calls == []


@surfaces
async def test_a_stream_that_waits_says_that_it_lives(tmp_path: Path, surface: str) -> None:
    limits = {"keep_alive_seconds": 0.02}
    async with before(tmp_path, after(0.1, says("late ", "though")), limits=limits) as (sdks, _):
        assert await sdks.ask(surface, True) == Told("late though", ENDED[surface], (7, 5))
        got = await wire(sdks.running, surface)
    alive = b"event: ping\n" if surface == "messages" else b": keep-alive\n"
    assert got.count(alive) >= 2
    assert got.index(alive) < got.index(b"late")
    if surface == "messages":
        assert [name for name, _ in parsed(got)][:2] == ["message_start", "ping"]


@surfaces
@pytest.mark.parametrize("script", [answers(ERRORS[429][0], 429), raw_answer(b"")], ids=["error", "dead"])
async def test_what_fails_while_a_stream_waits_is_told_inside_it(tmp_path: Path, surface: str, script: Script) -> None:
    fields: dict[str, Any] = {"limits": {"keep_alive_seconds": 0.02}, "backend": {"retries": 0}}
    async with before(tmp_path, after(0.06, script), **fields) as (sdks, _):
        with refused() as told:
            await sdks.ask(surface, True)
        limited = told[0].message == "slow down"
        assert limited or told[0].code == "upstream_error"
        assert surface != "messages" or told[0].said["type"] == ("rate_limit_error" if limited else "api_error")
        got = await wire(sdks.running, surface)
        assert not any(last in got for last in LAST)


@foreign
@pytest.mark.parametrize("when", ["waiting", "kept alive", "mid-stream"])
async def test_C42_C44_a_client_that_leaves_ends_the_upstreams_work(tmp_path: Path, surface: str, when: str) -> None:
    limits = {"keep_alive_seconds": 0.02} if when == "kept alive" else {}
    script = endless if when == "mid-stream" else silent
    async with before(tmp_path, script, [regex("bomb")], limits=limits) as (sdks, up):
        asking = asyncio.ensure_future(sdks.ask(surface, True))
        await until(lambda: up.calls)
        await asyncio.sleep(0.05)
        left = time.perf_counter()
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await asyncio.wait_for(up.calls[0].closed.wait(), 1.5)
        assert time.perf_counter() - left < 1
        await quiet(sdks.running)
        metrics = await sdks.running.metrics()
    assert metrics[f'retrace_client_gone_total{{surface="{surface}"}}'] == 1


async def test_C44_clients_that_close_their_stream(tmp_path: Path) -> None:
    async with before(tmp_path, endless, [regex("bomb")]) as (sdks, up):
        theirs: list[Any] = [
            await sdks.gpt.responses.create(model="m", input="hi", stream=True),
            await sdks.claude.messages.create(
                model="m", max_tokens=9, stream=True, messages=ASKED["messages"]["messages"]
            ),
        ]
        for stream in theirs:
            async for _ in stream:
                break
            await stream.close()
        for seen in up.calls:
            await asyncio.wait_for(seen.closed.wait(), 1)


async def test_what_lies_below_a_surface_is_refused_in_its_shape(tmp_path: Path) -> None:
    async with before(tmp_path, says("x")) as (sdks, up):
        with refused() as told:
            await sdks.claude.messages.count_tokens(model="m", messages=[{"role": "user", "content": "hi"}])
        assert told[0].raised is anthropic.NotFoundError
        assert (told[0].code, told[0].said["type"]) == ("surface_not_guarded", "not_found_error")
        assert "POST /v1/messages/count_tokens" in told[0].message
        assert "/v1/messages," in told[0].message  # what is guarded is named
        with refused() as told:
            await sdks.gpt.responses.retrieve("resp_1")
        assert (told[0].raised, told[0].code) == (openai.NotFoundError, "surface_not_guarded")
        assert up.calls == []


async def test_what_generates_nothing_may_be_named_and_passes(tmp_path: Path) -> None:
    passed: dict[str, Any] = {"pass_through": ["/v1/models", "/v1/messages/count_tokens"]}
    async with before(tmp_path, answers(b'{"input_tokens": 12}'), **passed) as (sdks, up):
        counted = await sdks.claude.messages.count_tokens(model="m", messages=[{"role": "user", "content": "hi"}])
        assert counted.input_tokens == 12
        assert up.calls[0].path == "/v1/messages/count_tokens"


async def test_beta_messages_are_messages(tmp_path: Path) -> None:
    async with before(tmp_path, says("a secret"), [regex("secret", action="mask")]) as (sdks, up):
        said: Any = [{"role": "user", "content": "hi"}]
        told = await sdks.claude.beta.messages.create(model="m", max_tokens=9, messages=said, betas=["some-beta"])
        assert [block.text for block in told.content if block.type == "text"] == ["a ***"]
        assert up.calls[0].path == "/v1/chat/completions"


FILE = {"type": "input_image", "file_id": "f", "detail": "auto"}
PDF = {"type": "document", "source": {"type": "url", "url": "http://localhost/a.pdf"}}
UNKNOWN: dict[str, tuple[str, dict[str, Any], str]] = {
    "no field that is known": ("messages", {"extra_body": {"wibble": 1}}, "wibble"),
    "none either": ("responses", {"extra_body": {"wibble": 1}}, "wibble"),
    "a hosted tool": ("messages", {"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "web_search"),
    "another": ("responses", {"tools": [{"type": "web_search"}]}, "web_search"),
    "a container": ("messages", {"extra_body": {"container": "c"}}, "container"),
    "what was kept": ("responses", {"previous_response_id": "resp_1"}, "previous_response_id"),
    "to be kept": ("responses", {"store": True}, "store"),
    "later": ("responses", {"background": True}, "background"),
    "a file that was kept": ("responses", {"said": [{"role": "user", "content": [FILE]}]}, "file"),
    "a document that nobody can judge": ("messages", {"said": [{"role": "user", "content": [PDF]}]}, "text"),
}


@streamed
@pytest.mark.parametrize("what", UNKNOWN)
async def test_what_can_t_be_had_is_refused_and_named(tmp_path: Path, what: str, stream: bool) -> None:
    surface, fields, name = UNKNOWN[what]
    async with before(tmp_path, says("x")) as (sdks, up):
        with refused() as told:
            await sdks.ask(surface, stream, **fields)
        assert (told[0].status, told[0].code, told[0].said["type"]) == (400, "bad_request", "invalid_request_error")
        assert name in told[0].message
        assert up.calls == []
