"""Cases on guards over streams: every split, every choice, every surface; and only for whom they are meant."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from gateway.keys import hashed
from tests.rig import (
    CHAT,
    DONE,
    PROMPT,
    chat_stream,
    delta,
    gateway,
    payloads,
    quiet,
    regex,
    rule,
    said,
    shaped,
    streams,
    text_delta,
    upstream,
)

MAIL = "user@example.com"
SAID = f"Write to {MAIL} soon"
EMAIL = r"\b[a-z]{1,16}@[a-z]{1,16}\.com\b"


def split(surface: str, *pieces: str) -> list[bytes]:
    make = delta if surface == "chat" else text_delta
    return [*(make(piece) for piece in pieces), make("", 0, "stop"), DONE]


def text_of(surface: str, got: bytes) -> str:
    if surface == "chat":
        return said(got)
    return "".join(choice["text"] for part in payloads(got)[:-1] for choice in part["choices"])


def finish_of(got: bytes) -> list[str]:
    return [c["finish_reason"] for part in payloads(got)[:-1] for c in part["choices"] if c["finish_reason"]]


@pytest.mark.parametrize("check", [{"type": "regex", "pattern": EMAIL}, {"type": "pii", "kinds": ["email"]}])
@pytest.mark.parametrize("action", ["mask", "block"])
@pytest.mark.parametrize("surface", ["chat", "completions"])
async def test_C22_a_value_is_found_however_the_stream_is_cut(
    tmp_path: Path, surface: str, action: str, check: dict[str, Any]
) -> None:
    path, body = ("/v1/chat/completions", CHAT) if surface == "chat" else ("/v1/completions", PROMPT)
    cuts = [[SAID[:place], SAID[place:]] for place in range(1, len(SAID))]
    cuts += [[SAID[place : place + size] for place in range(0, len(SAID), size)] for size in (1, 2, 3)]
    async with upstream(streams([])) as (url, up), gateway(tmp_path, [url], [rule(check, action)]) as running:
        for pieces in cuts:
            up.script = streams(split(surface, *pieces))
            got = await running.ask(path, {**body, "stream": True})
            if action == "mask":
                assert text_of(surface, got) == "Write to *** soon"
                assert finish_of(got) == ["stop"]
            else:
                assert text_of(surface, got) == "Write to "
                assert finish_of(got) == ["content_filter"]
            assert b"user@" not in got
            assert b"example" not in got
        await quiet(running)


async def test_C22_tool_call_arguments_are_texts_too(tmp_path: Path) -> None:
    arguments = '{"to": "user\\u0040example.com", "cc": "user@example.com"}'

    def call(text: str, **named: Any) -> bytes:
        return delta(tool_calls=[{"index": 0, "function": {"arguments": text}, **named}])

    for size in (1, 7, len(arguments)):
        pieces = [call(arguments[place : place + size]) for place in range(0, len(arguments), size)]
        sent = [call("", id="call_1", type="function"), *pieces, delta(finish="tool_calls"), DONE]
        async with (
            upstream(streams(sent)) as (url, _),
            gateway(tmp_path, [url], [regex(EMAIL, action="mask")]) as running,
        ):
            got = await running.ask("/v1/chat/completions", {**CHAT, "stream": True})
        calls = [
            c["function"]["arguments"]
            for p in payloads(got)[:-1]
            for c in p["choices"][0]["delta"].get("tool_calls", ())
        ]
        assert "".join(calls) == '{"to":"***","cc":"***"}'


@pytest.mark.parametrize("together", [True, False])
@pytest.mark.parametrize("surface", ["chat", "completions"])
async def test_C23_each_choice_is_judged_on_its_own(tmp_path: Path, surface: str, together: bool) -> None:
    make = delta if surface == "chat" else text_delta
    path, body = ("/v1/chat/completions", CHAT) if surface == "chat" else ("/v1/completions", PROMPT)
    words = [("all ", "a for"), ("is ", "bid"), ("well", "den word"), (" here.", " it is")]
    parts = list(itertools.chain.from_iterable((make(one, 0), make(two, 1)) for one, two in words))
    sent = [*parts, make("", 0, "stop"), make("", 1, "stop"), DONE]
    async with (
        upstream(streams([b"".join(sent)] if together else sent)) as (url, _),
        gateway(tmp_path, [url], [regex("forbidden")]) as running,
    ):
        got = await running.ask(path, {**body, "n": 2, "stream": True})
        told = await running.metrics()
    texts, ends = {0: "", 1: ""}, {0: [], 1: []}  # type: ignore[var-annotated]
    for part in payloads(got)[:-1]:
        for choice in part["choices"]:
            texts[choice["index"]] += choice["text"] if surface == "completions" else choice["delta"].get("content", "")
            ends[choice["index"]].append(choice["finish_reason"])
    assert texts == {0: "all is well here.", 1: "a "}
    assert [[end for end in ends[i] if end] for i in (0, 1)] == [["stop"], ["content_filter"]]
    labels = 'action="block",reason="R101",rule="output.regex",side="output"'
    assert told[f"retrace_verdicts_total{{{labels}}}"] == 1


async def test_C23_words_of_different_choices_never_make_one(tmp_path: Path) -> None:
    sent = [delta("for", 0), delta("bidden", 1), delta(" you", 0), delta(finish="stop"), delta(None, 1, "stop"), DONE]
    async with upstream(streams(sent)) as (url, _), gateway(tmp_path, [url], [regex("forbidden")]) as running:
        assert await running.ask("/v1/chat/completions", {**CHAT, "n": 2, "stream": True}) == b"".join(sent)


UNGUARDED = ["/v1/responses/resp_1", "/v1/responses/", "/v1/messages/batches", "/v1/messages/count_tokens",
             "/v1/audio/speech", "/v1/chat/completions/", "/v1//chat/completions", "/v1/completions/../completion",
             "/inference/v1/generate", "/generate", "/invocations", "/v2/rerank", "/v1/chat%2Fcompletions",
             "/v1%2Fmessages", "/"]  # fmt: skip
GUARDED = ["/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/messages"]
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"]


async def test_C26_C27_what_no_guard_understands_is_refused(tmp_path: Path) -> None:
    """Nothing may reach a model by a path that no surface stands at."""
    async with (
        upstream(streams(chat_stream("forbidden"))) as (url, up),
        gateway(tmp_path, [url], [regex("forbidden")]) as running,
    ):
        for path, method in itertools.product(UNGUARDED, METHODS):
            async with running.http.request(
                method, f"{running.url}{path}", json={"model": "m", "input": "hi", "stream": True}
            ) as response:
                told = await response.read()
                assert response.status == 404, (method, path)
                assert "x-retrace-verdict" not in response.headers  # nobody says that it was judged
                if method != "HEAD":
                    error = orjson.loads(told)["error"]
                    code = error["details"]["error_code"] if "details" in error else shaped(told)["code"]
                    assert code == "surface_not_guarded"
                    assert "/v1/chat/completions" in error["message"]
        assert up.calls == []
        assert 'retrace_exchanges_total{surface="chat",verdict="allow"}' not in await running.metrics()
        await quiet(running)


async def test_C26_a_guarded_path_takes_no_other_method(tmp_path: Path) -> None:
    async with upstream(streams(chat_stream("hi"))) as (url, up), gateway(tmp_path, [url]) as running:
        for path, method in itertools.product(GUARDED, METHODS):
            if method != "POST":
                async with running.http.request(method, f"{running.url}{path}", json=CHAT) as response:
                    assert response.status == 404
        assert up.calls == []


async def test_C31_a_guard_of_another_tenant_touches_nothing(tmp_path: Path) -> None:
    keys = [{"hash": hashed("key-a"), "tenant": "a"}, {"hash": hashed("key-b"), "tenant": "b"}]
    (tmp_path / "tiers.yaml").write_text(yaml.safe_dump({"keys": keys}))
    rules = [
        regex("forbidden", id="one", when={"tenant": "b"}),
        rule({"type": "pii"}, "mask", id="two", when={"tenant": "b"}),
        rule({"type": "schema", "json_schema": {"type": "object"}}, id="three", when={"tenant": "b"}),
    ]
    sent = chat_stream("it is ", "for", "bidden ", "me@example.com", done=False)
    async with (
        upstream(streams([*sent, DONE])) as (url, _),
        gateway(tmp_path, [url], rules, tiers="tiers.yaml") as running,
    ):
        for stream in (True,) * 3:
            body = {**CHAT, "stream": stream, "stream_options": {"include_usage": True}}
            as_a = await running.ask("/v1/chat/completions", body, {"authorization": "Bearer key-a"})
            assert as_a == b"".join([*sent, DONE])
            as_b = await running.ask("/v1/chat/completions", body, {"authorization": "Bearer key-b"})
            assert said(as_b) == ""
            assert finish_of(as_b) == ["content_filter"]
        told = await running.metrics()
        assert told['retrace_exchanges_total{surface="chat",verdict="allow"}'] == 3
        assert told['retrace_exchanges_total{surface="chat",verdict="block"}'] == 3


@pytest.mark.parametrize("dimension", ["model", "tier", "surface", "role"])
async def test_C31_nor_does_one_of_another_model_tier_surface_or_role(tmp_path: Path, dimension: str) -> None:
    rules = [regex("forbidden", when={dimension: "another"})]
    sent = chat_stream("it is ", "for", "bidden ", done=True)
    async with upstream(streams(sent)) as (url, _), gateway(tmp_path, [url], rules) as running:
        body = {**CHAT, "stream": True, "stream_options": {"include_usage": True}}
        assert await running.ask("/v1/chat/completions", body) == b"".join(sent)
