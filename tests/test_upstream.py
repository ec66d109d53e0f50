"""What an upstream may send instead of an answer: always a clear error in the right shape, or the right answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.backends.openai import Plug
from gateway.errors import BadRequest, Unavailable, UpstreamFault
from gateway.fleet import Fleet
from gateway.metrics import Metrics
from gateway.surfaces import Asking
from gateway.upstream import LARGEST_ERROR, Upstream
from tests.plugin import asked, engine, in_front, replicas, settled
from tests.refine.rigs import ALWAYS, ANSWER, both, is_reading, reads, says
from tests.rig import (
    CHAT,
    DONE,
    PROMPT,
    Script,
    answers,
    chunk,
    completion,
    delta,
    gateway,
    http,
    payloads,
    quiet,
    raw_answer,
    regex,
    said,
    shaped,
    stream_head,
    streams,
    until,
    upstream,
    usage_event,
)

MASK = [regex("secret", action="mask")]
TOLD = b'{"error":{"message":"from the engine","type":"x","param":null,"code":"c"}}'
HTML = b"<html><h1>Bad gateway at 10.0.0.7</h1></html>"


@pytest.mark.parametrize("status", [400, 404, 409, 422, 429, 500, 503, 529])
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("surface", ["chat", "completions"])
async def test_an_error_reaches_the_client_with_its_status(
    tmp_path: Path, surface: str, stream: bool, status: int
) -> None:
    path, body = ("/v1/chat/completions", CHAT) if surface == "chat" else ("/v1/completions", PROMPT)
    kinds: dict[str, tuple[bytes, str]] = {
        "json": (TOLD, "application/json"),
        "json as events": (TOLD, "text/plain"),
        "html": (HTML, "text/html"),
        "empty": (b"", "text/plain"),
        "empty json": (b"{}", "application/json"),
        "list": (b"[1]", "application/json"),
        "cut json": (TOLD[:20], "application/json"),
        "binary": (b"\xff\x00\xfe", "application/octet-stream"),
    }
    for name, (raw, kind) in kinds.items():
        script = answers(raw, status, {"content-type": kind, "retry-after": "7"})
        async with upstream(script) as (url, _), gateway(tmp_path, [url], MASK) as running:
            async with running.http.post(f"{running.url}{path}", json={**body, "stream": stream}) as response:
                got = await response.read()
                assert (name, response.status) == (name, status)
                assert response.headers["retry-after"] == "7"
                assert response.headers["content-type"].startswith("application/json")
            if raw == TOLD:
                assert got == TOLD
            else:
                assert str(status) in shaped(got)["message"]
                assert b"10.0.0.7" not in got
            await quiet(running)


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/completions", "/v1/embeddings"])
async def test_a_refused_key_is_the_gateways_and_not_the_clients(tmp_path: Path, path: str, status: int) -> None:
    leaky = b'{"error":{"message":"Incorrect API key provided: sk-abc***xyz"}}'
    async with upstream(answers(leaky, status)) as (url, _), gateway(tmp_path, [url], MASK) as running:
        async with running.http.post(f"{running.url}{path}", json={**CHAT, **PROMPT}) as response:
            assert response.status == 502
            got = await response.read()
        assert "key_env" in shaped(got)["message"]
        assert b"sk-abc" not in got
        assert (await running.metrics())['retrace_upstream_errors_total{backend="up",kind="credentials"}'] == 1
        await quiet(running)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/models"])
async def test_a_redirect_is_neither_followed_nor_passed_on(tmp_path: Path, path: str, status: int) -> None:
    """A client that followed it would talk past every guard."""
    for raw, kind in ((b"", "text/plain"), (b"{}", "application/json"), (b"data: {}\n\n", "text/event-stream")):
        async with upstream(answers(completion("x"))) as (other, other_up):
            script = answers(raw, status, {"location": f"{other}/v1/chat/completions", "content-type": kind})
            async with upstream(script) as (url, _), gateway(tmp_path, [url], MASK) as running:
                for stream in (True, False):
                    async with running.http.post(
                        f"{running.url}{path}", json={**CHAT, **PROMPT, "stream": stream}, allow_redirects=False
                    ) as response:
                        assert response.status == 502
                        assert "location" not in response.headers
                        assert "redirect" in shaped(await response.read())["message"]
                await quiet(running)
            assert other_up.seen == []


GARBAGE: dict[str, bytes] = {
    "no json": b"data: hello\n\n",
    "cut json": b'data: {"choices": [\n\n',
    "a list": b"data: [1, 2]\n\n",
    "a number": b"data: 7\n\n",
    "null": b"data: null\n\n",
    "choices a number": b'data: {"choices": 5}\n\n',
    "choices a text": b'data: {"choices": "abc"}\n\n',
    "choices an object": b'data: {"choices": {"index": 0}}\n\n',
    "choices true": b'data: {"choices": true}\n\n',
    "a choice a text": b'data: {"choices": ["abc"]}\n\n',
    "a choice null": b'data: {"choices": [null]}\n\n',
    "index a text": b'data: {"choices": [{"index": "0", "delta": {"content": "x"}}]}\n\n',
    "index null": b'data: {"choices": [{"index": null, "delta": {"content": "x"}}]}\n\n',
    "index a list": b'data: {"choices": [{"index": [0], "delta": {"content": "x"}}]}\n\n',
    "not utf-8": b'data: {"choices": [{"index": 0, "delta": {"content": "\xff\xfe"}}]}\n\n',
    "html": b"data: <html></html>\n\n",
    "nested": b'data: {"choices":[{"index":0,"delta":{"content":' + b"[" * 1000 + b'"x"' + b"]" * 1000 + b"}}]}\n\n",
    "too nested": b'data: {"choices":[{"index":0,"delta":{"content":' + b"[" * 5000 + b"]" * 5000 + b"}}]}\n\n",
    "arguments nested": delta(tool_calls=[{"index": 0, "function": {"arguments": "[" * 1000 + "]" * 1000}}]),
    "delta a text": b'data: {"choices": [{"index": 0, "delta": "abc"}]}\n\n',
    "delta a list": b'data: {"choices": [{"index": 0, "delta": ["secret"]}]}\n\n',
    "content a number": b'data: {"choices": [{"index": 0, "delta": {"content": 5}}]}\n\n',
    "finish an object": b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": {"a": 1}}]}\n\n',
    "usage a list": b'data: {"choices": [], "usage": [1]}\n\n',
    "error a number": b'data: {"error": 5}\n\n',
    "tool calls a number": b'data: {"choices": [{"index": 0, "delta": {"tool_calls": 5}}]}\n\n',
    "tool calls mixed": b'data: {"choices":[{"index":0,"delta":{"tool_calls":[5,null,"secret",{"index":"x"}]}}]}\n\n',
}


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("garbage", GARBAGE)
async def test_garbage_in_a_stream_is_an_error_event_or_harmless(tmp_path: Path, garbage: str, first: bool) -> None:
    before = [] if first else [delta("fine ")]
    sent = [*before, GARBAGE[garbage], delta("after"), delta(finish="stop"), DONE]
    for rules in ([], MASK):
        async with upstream(streams(sent)) as (url, _), gateway(tmp_path, [url], rules) as running:
            response = await running.chat(stream=True)
            got = payloads(await response.read())
            assert response.status == 200
            if garbage == "error a number":
                assert {"error": 5} in got
                assert got[-1] != "[DONE]"
            elif got[-1] != "[DONE]":
                assert got[-1]["error"]["code"] == "upstream_error"
            await quiet(running)


@pytest.mark.parametrize("garbage", GARBAGE)
async def test_garbage_in_one_piece_is_a_502_or_harmless(tmp_path: Path, garbage: str) -> None:
    raw = GARBAGE[garbage].removeprefix(b"data: ").strip().replace(b'"delta"', b'"message"')
    for rules in ([], MASK):
        async with upstream(answers(raw)) as (url, _), gateway(tmp_path, [url], rules) as running:
            response = await running.chat()
            got = await response.read()
            assert response.status in (200, 502)
            if response.status == 502:
                assert shaped(got)["code"] == "upstream_error"
            else:
                assert b"secret" not in got or not rules
            await quiet(running)


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/completions"])
async def test_an_empty_or_html_answer_with_200_is_a_502(tmp_path: Path, path: str) -> None:
    for raw in (b"", b" ", HTML, b"null", b"[]", b'"text"', completion("x")[:-9]):
        async with upstream(answers(raw)) as (url, _), gateway(tmp_path, [url], MASK) as running:
            async with running.http.post(f"{running.url}{path}", json={**CHAT, **PROMPT}) as response:
                assert response.status == 502
                shaped(await response.read())
            kind = 'retrace_upstream_errors_total{backend="up",kind="garbage"}'
            assert (await running.metrics())[kind] == 1
            await quiet(running)


ENDS: dict[str, tuple[list[bytes], bool]] = {
    "whole": ([delta("hi"), delta(finish="stop"), usage_event(), DONE], True),
    "no [DONE], but finished": ([delta("hi"), delta(finish="stop")], True),
    "no [DONE], finished with its text": ([delta("hi", finish="stop")], True),
    "no [DONE], not finished": ([delta("hi")], False),
    "[DONE], not finished": ([delta("hi"), DONE], True),
    "nothing": ([], False),
    "only comments": ([b": hello\n\n", b": still here\n\n"], False),
    "only a role": ([delta("", role="assistant")], False),
    "last event cut": ([delta("hi"), delta(finish="stop")[:-30]], False),
    "last event without its blank line": ([delta("hi"), delta(finish="stop").rstrip()], True),
    "[DONE] without its blank line": ([delta("hi"), delta(finish="stop"), b"data: [DONE]"], True),
    "[DONE] without its space": ([delta("hi"), delta(finish="stop"), b"data:[DONE]\n\n"], True),
    "more behind [DONE]": ([delta("hi"), delta(finish="stop"), DONE, delta("unheard"), DONE], True),
    "one of two": ([delta("hi"), delta("ho", 1), delta(finish="stop")], True),
}


@pytest.mark.parametrize("end", ENDS)
async def test_an_end_is_an_end_only_if_the_answer_is_whole(tmp_path: Path, end: str) -> None:
    sent, whole = ENDS[end]
    for rules in ([], MASK):
        async with upstream(streams(sent)) as (url, _), gateway(tmp_path, [url], rules) as running:
            got = await running.ask("/v1/chat/completions", {**CHAT, "stream": True})
            assert (payloads(got)[-1] == "[DONE]") is whole
            assert got.count(b"[DONE]") == whole
            assert b"unheard" not in got
            if not whole:
                assert payloads(got)[-1]["error"]["code"] == "upstream_error"
            if b"hi" in b"".join(sent):
                assert said(got) == "hi"
            await quiet(running)


async def test_two_choices_asked_for_and_one_finished_is_not_the_end(tmp_path: Path) -> None:
    sent = [delta("hi"), delta("ho", 1), delta(finish="stop")]
    async with upstream(streams(sent)) as (url, _), gateway(tmp_path, [url]) as running:
        got = await running.ask("/v1/chat/completions", {**CHAT, "n": 2, "stream": True})
        assert payloads(got)[-1]["error"]["code"] == "upstream_error"


BREAKS: dict[str, Script] = {
    "reset": raw_answer(stream_head(), chunk(delta("fine sec"))),
    "chunk cut": raw_answer(stream_head(), chunk(delta("fine sec")), b"ff\r\nabc"),
    "chunk size garbage": raw_answer(stream_head(), chunk(delta("fine sec")), b"zz\r\nabc\r\n"),
    "ends": streams([delta("fine sec")]),
    "says so": streams([delta("fine sec"), b'data: {"error": {"message": "OOM", "type": "x"}}\n\n', DONE]),
}


@pytest.mark.parametrize("break_", BREAKS)
async def test_text_that_waited_leaves_judged_before_the_error(tmp_path: Path, break_: str) -> None:
    rules = [regex("secret word", action="mask")]
    backend = {"timeouts": {"idle": 0.5}}
    async with upstream(BREAKS[break_]) as (url, _), gateway(tmp_path, [url], rules, backend=backend) as running:
        got = await running.ask("/v1/chat/completions", {**CHAT, "stream": True})
        assert said(got) == "fine sec"
        assert "error" in payloads(got)[-1]
        assert b"[DONE]" not in got
        await quiet(running)


async def test_what_waited_is_judged_at_the_end_of_a_broken_stream_too(tmp_path: Path) -> None:
    for action, left in (("mask", "fine ***"), ("block", "fine ")):
        async with (
            upstream(streams([delta("fine secret")])) as (url, _),
            gateway(tmp_path, [url], [regex("secret", action=action)]) as running,
        ):
            got = await running.ask("/v1/chat/completions", {**CHAT, "stream": True})
            assert said(got) == left


async def test_broken_http_is_a_502(tmp_path: Path) -> None:
    for raw in (
        b"garbage\r\n\r\n",
        b"HTTP/9.9 200 OK\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 9\r\n\r\nabcde",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"x: " + b"a" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 204 No Content\r\n\r\n",
    ):
        async with upstream(raw_answer(raw)) as (url, _), gateway(tmp_path, [url], backend={"retries": 0}) as running:
            for stream in (True, False):
                response = await running.chat(stream=stream)
                assert response.status in (502, 204), raw
                if response.status == 502:
                    shaped(await response.read())
            await quiet(running)


async def test_an_informational_answer_before_the_real_one_is_skipped(tmp_path: Path) -> None:
    raw = b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n" + http(completion("hi"))
    async with upstream(raw_answer(raw, close=False)) as (url, _), gateway(tmp_path, [url]) as running:
        assert await running.ask("/v1/chat/completions", CHAT) == completion("hi")


async def test_many_faults_in_a_row_leave_nothing(tmp_path: Path) -> None:
    scripts: list[Any] = [*list(BREAKS.values())[:2], answers(b"", 500), raw_answer(b""), streams([GARBAGE["no json"]])]
    left = iter(scripts * 5)

    async def script(seen: Any, writer: asyncio.StreamWriter) -> None:
        await next(left)(seen, writer)

    backend = {"retries": 0, "timeouts": {"idle": 0.5}}
    async with upstream(script) as (url, up), gateway(tmp_path, [url], MASK, backend=backend) as running:

        async def ask() -> None:
            await (await running.chat(stream=True)).read()

        for _ in range(5):
            await asyncio.gather(*(ask() for _ in scripts))
        await quiet(running)
        assert up.open == 0


# Questions of our own.

OURS = Asking("/v1/chat/completions", {"model": "m", "messages": [{"role": "user", "content": "对吗？ Right?"}]})


@asynccontextmanager
async def asking(*urls: str, **fields: Any) -> AsyncIterator[Upstream]:
    """The way to backends named one, two and so on."""
    fleet = Fleet(lambda _name, _kind: None)
    names = ("one", "two")
    await fleet.apply([Plug(name=name, urls=(url,), **fields) for name, url in zip(names, urls, strict=False)])
    yield Upstream(fleet, Metrics())
    await fleet.stop()


async def test_a_question_of_ours_is_answered_by_whoever_serves_its_model_or_by_name() -> None:
    async with (
        upstream(answers(completion("one"))) as (one, first),
        upstream(answers(completion("two"), 422)) as (two, second),
        asking(one, two) as way,
    ):
        assert await way.ask("shop", OURS, None) == ("one", 200, completion("one"))
        assert await way.ask("shop", OURS, "two") == ("two", 422, completion("two"))
        assert await way.ask("shop", OURS, "one") == ("one", 200, completion("one"))
    assert [seen.json for seen in first.calls] == [OURS.body] * 2
    (other,) = second.calls
    assert (other.method, other.path, other.json) == ("POST", OURS.path, OURS.body)
    assert other.headers["content-type"] == "application/json"


async def test_nobody_may_serve_it_or_be_called_so() -> None:
    async with asking("http://127.0.0.1:9", models=("other",)) as way:
        with pytest.raises(BadRequest, match="no backend serves"):
            await way.ask("shop", OURS, None)
        with pytest.raises(Unavailable, match="two"):
            await way.ask("shop", OURS, "two")


@pytest.mark.parametrize(("status", "kind"), [(401, "credentials"), (403, "credentials"), (307, "redirect")])
async def test_what_is_meant_for_the_gateway_is_no_answer(status: int, kind: str) -> None:
    async with upstream(answers(b"{}", status)) as (url, _), asking(url) as way:
        with pytest.raises(UpstreamFault) as caught:
            await way.ask("shop", OURS, None)
    assert caught.value.kind == kind


async def test_an_answer_to_us_is_bounded_and_leaves_nothing_open() -> None:
    scripts = [answers(b"x" * (LARGEST_ERROR + 1)), raw_answer(stream_head(), chunk(b"x"), b"zz")]
    for script in scripts:
        async with upstream(script) as (url, up), asking(url, retries=0) as way:
            with pytest.raises(UpstreamFault):
                await way.ask("shop", OURS, None)
            await until(lambda: not up.open)


async def test_who_stops_asking_ends_the_work() -> None:
    async def never(_seen: Any, _writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async with upstream(never) as (url, up), asking(url) as way:
        task = asyncio.create_task(way.ask("shop", OURS, None))
        await until(lambda: up.calls)
        task.cancel()
        await asyncio.wait_for(up.calls[0].closed.wait(), 1)
        await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_second_reading_shares_its_tenant_s_cache_and_is_not_captured(tmp_path: Path, stream: bool) -> None:
    (tmp_path / "refine.yaml").write_text(yaml.safe_dump({"tiers": [ALWAYS], "cache": None}))
    script = both(says(ANSWER, stream), reads())
    async with (
        engine(script) as (url, up, plugin),
        in_front(tmp_path, [url], refine="refine.yaml", retrace={"capture": "all"}) as running,
    ):
        assert all(replica.engine for replica in replicas(running))
        await (await running.chat(stream=stream)).read()
        await settled(up, plugin)
    answer, reading = up.calls
    assert is_reading(reading)
    assert asked(answer)["capture"]
    assert reading.json["cache_salt"] == answer.json["cache_salt"]
    assert "kv_transfer_params" not in reading.json


async def test_where_there_is_no_plugin_nothing_of_ours_is_sent(tmp_path: Path) -> None:
    (tmp_path / "refine.yaml").write_text(yaml.safe_dump({"tiers": [ALWAYS]}))
    async with (
        upstream(both(says(ANSWER, False), reads())) as (url, up),
        gateway(tmp_path, [url], refine="refine.yaml") as running,
    ):
        await running.ask("/v1/chat/completions", CHAT)
        await quiet(running)
    assert not up.calls[1].json.keys() & {"cache_salt", "kv_transfer_params"}
    assert "authorization" not in up.calls[1].headers
