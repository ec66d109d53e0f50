"""The road of an exchange: bad input of every kind, explanations, ids, verdicts. After each all is as before."""

from __future__ import annotations

import itertools
from pathlib import Path
from time import perf_counter
from typing import Any

import orjson
import pytest

from gateway.ledger import Trip
from gateway.pipeline import Inbound
from gateway.types import Principal
from tests.rig import (
    CHAT,
    DONE,
    PROMPT,
    answered,
    answers,
    chat_stream,
    completion,
    delta,
    gateway,
    payloads,
    post,
    quiet,
    regex,
    shaped,
    silent,
    streams,
    upstream,
)

HI = {"role": "user", "content": "hi"}
GUARD = [regex("bomb", side="input"), regex("secret", action="mask", id="mask"), regex("deadly", id="deadly")]

NO_JSON: dict[str, bytes] = {
    "nothing": b"",
    "cut": b'{"model": "m", "messages": [',
    "text": b"hello",
    "python": b"{'model': 'm'}",
    "two": b"{}{}",
    "trailing comma": b'{"model": "m",}',
    "NUL": b"\0",
    "NUL inside": b'{"model":\0"m"}',
    "not utf-8": b'{"model": "m\xff\xfe", "messages": []}',
    "utf-16": '{"model": "m"}'.encode("utf-16"),
    "byte order mark": b"\xef\xbb\xbf{}",
    "lone surrogate": b'{"model":"m","messages":[{"role":"user","content":"\\ud800"}]}',
    "NaN": b'{"model":"m","messages":[{"role":"user","content":"x"}],"temperature":NaN}',
    "list": b"[]",
    "number": b"7",
    "null": b"null",
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
}


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/completions"])
async def test_what_is_no_json_object_is_a_400_that_says_so(tmp_path: Path, path: str) -> None:
    async with upstream(answers(completion("x"))) as (url, up), gateway(tmp_path, [url], GUARD) as running:
        for name, raw in NO_JSON.items():
            status, headers, body = await answered(running, post(raw, path))
            assert (name, status) == (name, 400)
            error = shaped(body)
            assert error["type"] == "invalid_request_error"
            assert "JSON" in error["message"]
            assert headers["content-type"] == "application/json"
        assert up.calls == []
        await quiet(running)


TYPES: list[Any] = [None, True, 7, -1, 1.5, "text", [], {}, [[]], [None], [7], {"a": 1}]
KNOWN = {
    "chat": ("/v1/chat/completions", CHAT, ["model", "messages", "stream", "n", "stream_options", "tools", "functions",
             "documents", "prediction", "chat_template", "temperature", "stop", "user", "response_format"]),
    "completions": ("/v1/completions", PROMPT, ["model", "prompt", "suffix", "stream", "n", "stream_options", "stop",
                    "prompt_embeds", "echo", "logprobs", "best_of"]),
}  # fmt: skip


@pytest.mark.parametrize("surface", KNOWN)
async def test_every_field_of_a_wrong_type_is_refused_or_passed_on_but_never_a_crash(
    tmp_path: Path, surface: str
) -> None:
    path, good, names = KNOWN[surface]
    async with upstream(answers(completion("x"))) as (url, up), gateway(tmp_path, [url], GUARD) as running:
        for name, value in itertools.product(names, TYPES):
            status, _, body = await answered(running, post({**good, name: value}, path))
            assert status in (200, 400), (name, value, status, body)
            if status == 400:
                error = shaped(body)
                assert error["param"], (name, value, error)
                assert error["param"].split(".")[0].split("[")[0] == name
            else:
                sent = up.calls[-1].json
                assert sent[name] == value or name == "stream_options"
        await quiet(running)


async def test_every_part_of_a_message_of_a_wrong_type_too(tmp_path: Path) -> None:
    async with upstream(answers(completion("x"))) as (url, _), gateway(tmp_path, [url], GUARD) as running:
        names = (
            "role",
            "content",
            "name",
            "tool_calls",
            "function_call",
            "tool_call_id",
            "refusal",
            "reasoning_content",
        )
        for name, value in itertools.product(names, TYPES):
            status, _, body = await answered(running, post({"model": "m", "messages": [{**HI, name: value}]}))
            assert status in (200, 400), (name, value, status)
            if status == 400:
                assert shaped(body)["param"].removeprefix("messages[0].") in ("role", "content")
        for value in TYPES:
            status, _, body = await answered(running, post({"model": "m", "messages": [HI, value]}))
            assert status == (200 if isinstance(value, dict) else 400)
        await quiet(running)


@pytest.mark.parametrize("depth", [50, 150, 199, 205, 254, 260, 500, 990, 1010, 1100])
async def test_deep_nesting_is_passed_on_or_refused(tmp_path: Path, depth: int) -> None:
    nested = b"[" * depth + b'"x"' + b"]" * depth
    arguments = b'"' + nested.replace(b'"', b'\\"') + b'"'
    bodies = {
        "field": b'{"model":"m","messages":[{"role":"user","content":"x"}],"metadata":' + nested + b"}",
        "message": b'{"model":"m","messages":[{"role":"user","content":"x","more":' + nested + b"}]}",
        "content": b'{"model":"m","messages":[{"role":"user","content":' + nested + b"}]}",
        "tools": b'{"model":"m","messages":[{"role":"user","content":"x"}],"tools":' + nested + b"}",
        "arguments": b'{"model":"m","messages":[{"role":"assistant","tool_calls":[{"function":{"arguments":'
        + arguments
        + b"}}]}]}",
    }
    async with upstream(answers(completion("x"))) as (url, _), gateway(tmp_path, [url], GUARD) as running:
        for name, body in bodies.items():
            status, _, told = await answered(running, post(body))
            assert status in ((200,) if depth < 199 or name == "arguments" else (200, 400)), (name, status)
            if status == 400:
                assert "deep" in shaped(told)["message"] or "depth" in shaped(told)["message"]
        await quiet(running)


@pytest.mark.parametrize("hidden", ["\\u0062omb", "bomb", "bo\\u006Db"])
@pytest.mark.parametrize("shell", ['{{"a": "{}"}}', '{{"a": "{}\\ud800"}}', '{{"a": "{}", }}', "[" * 1200 + '"{}"'])
async def test_no_disguise_of_arguments_passes_unjudged(tmp_path: Path, shell: str, hidden: str) -> None:
    """Strict JSON or not: another reader may understand it."""
    arguments = shell.format(hidden)
    call = {"role": "assistant", "tool_calls": [{"id": "c", "function": {"name": "f", "arguments": arguments}}]}
    async with upstream(answers(completion("x"))) as (url, up), gateway(tmp_path, [url], GUARD) as running:
        status, _, body = await answered(running, post({"model": "m", "messages": [HI, call]}))
        assert status == 400
        assert shaped(body)["code"] == "content_filter"
        assert up.calls == []


async def test_ten_thousand_messages_are_read_and_judged(tmp_path: Path) -> None:
    many = [HI] * 9_999
    async with upstream(answers(completion("x"))) as (url, up), gateway(tmp_path, [url], GUARD) as running:
        began = perf_counter()
        status, _, _ = await answered(running, post({"model": "m", "messages": [*many, HI]}))
        assert status == 200
        assert len(up.calls[-1].json["messages"]) == 10_000
        status, _, body = await answered(
            running, post({"model": "m", "messages": [*many, {"role": "user", "content": "bomb"}]})
        )
        assert status == 400
        assert shaped(body)["param"] == "messages.9999.content"
        assert perf_counter() - began < 5
        await quiet(running)


async def test_texts_with_nul_and_every_control_character_are_judged(tmp_path: Path) -> None:
    async with upstream(answers(completion("x"))) as (url, up), gateway(tmp_path, [url], GUARD) as running:
        odd = "".join(map(chr, range(32))) + "\x7f\u2028\ufeff\ufffe\U0010ffff"
        status, _, _ = await answered(running, post({"model": "m", "messages": [{"role": "user", "content": odd}]}))
        assert status == 200
        assert up.calls[-1].json["messages"][0]["content"] == odd
        status, _, _ = await answered(
            running, post({"model": "m", "messages": [{"role": "user", "content": odd + "bomb"}]})
        )
        assert status == 400


@pytest.mark.parametrize("explain", ["1", "0", "true", None])
@pytest.mark.parametrize("stream", [True, False])
async def test_a_halted_choice_explains_itself_only_when_asked(
    tmp_path: Path, stream: bool, explain: str | None
) -> None:
    events = [delta("a deadly thing "), delta("and more"), delta(finish="stop"), DONE]
    script = streams(events) if stream else answers(completion("a deadly thing and more"))
    async with upstream(script) as (url, up), gateway(tmp_path, [url], GUARD) as running:
        headers = {"x-retrace-explain": explain} if explain else {}
        got = await running.ask("/v1/chat/completions", {**CHAT, "stream": stream}, headers)
        assert "x-retrace-explain" not in up.calls[-1].headers
    choice = payloads(got)[-2]["choices"][0] if stream else orjson.loads(got)["choices"][0]
    assert choice["finish_reason"] == "content_filter"
    told = {"verdict": "block", "reason": "R101", "rule": "deadly"}
    note = choice.get("retrace")
    assert (note and {name: note[name] for name in told}) == (told if explain == "1" else None)


@pytest.mark.parametrize("stream", [True, False])
async def test_headers_say_what_the_rules_said(tmp_path: Path, stream: bool) -> None:
    rules = [
        regex("tagged", side="input", action="tag", id="t", reason="R102"),
        regex("hidden", side="input", action="mask", id="m"),
        regex("watched", side="input", action="monitor", id="w"),
        regex("secret", action="mask", id="o", reason="R307"),
    ]
    script = streams(chat_stream("a secret")) if stream else answers(completion("a secret"))
    async with upstream(script) as (url, up), gateway(tmp_path, [url], rules) as running:
        for text, verdict, reasons, sent in (
            ("plain", "allow", "", "plain"),
            ("watched", "allow", "", "watched"),
            ("tagged", "tag", "R102", "tagged"),
            ("tagged hidden", "mask", "R101,R102", "tagged ***"),
        ):
            response = await running.chat(text, stream=stream)
            await response.read()
            if not stream:  # a stream's head leaves before its text is known
                verdict, reasons = "mask", ",".join(sorted({*filter(None, reasons.split(",")), "R307"}))
            assert response.headers["x-retrace-verdict"] == verdict
            assert response.headers.get("x-retrace-reason", "") == reasons
            assert response.headers["x-retrace-delivery"] == "live"
            assert up.calls[-1].json["messages"][0]["content"] == sent


async def test_fields_that_only_the_gateway_may_set_are_taken_out(tmp_path: Path) -> None:
    async with upstream(answers(completion("x"))) as (url, up), gateway(tmp_path, [url]) as running:
        for path, body in (("/v1/chat/completions", CHAT), ("/v1/completions", PROMPT)):
            ours = {"kv_transfer_params": {"retrace": {"donor": "another"}}, "cache_salt": "guess", "seed": 7}
            await running.ask(path, {**body, **ours})
            assert up.calls[-1].json == {**body, "seed": 7}


async def test_a_reply_that_nobody_reads_gives_its_answer_back(tmp_path: Path) -> None:
    """A client may leave between the answer's head and its first piece."""
    script = streams(chat_stream("hello"), pause=5)
    async with upstream(script) as (url, up), gateway(tmp_path, [url], GUARD) as running:
        inbound = Inbound("POST", "/v1/chat/completions", "", {}, orjson.dumps({**CHAT, "stream": True}))
        reply: Any = await running.server._pipeline.run(inbound, Principal(), Trip(perf_counter()))
        reply.body.close()
        await quiet(running)
        assert up.calls[-1].closed.is_set() or up.open == 0


async def test_json_where_a_stream_was_asked_for_is_judged_as_json(tmp_path: Path) -> None:
    async with upstream(answers(completion("a secret"))) as (url, _), gateway(tmp_path, [url], GUARD) as running:
        response = await running.chat(stream=True)
        assert response.status == 200
        assert response.headers["content-type"].startswith("application/json")
        assert orjson.loads(await response.read())["choices"][0]["message"]["content"] == "a ***"
        await quiet(running)


async def test_a_stream_where_json_was_asked_for_is_an_error(tmp_path: Path) -> None:
    async with upstream(streams(chat_stream("a secret"))) as (url, _), gateway(tmp_path, [url], GUARD) as running:
        response = await running.chat(stream=False)
        assert response.status == 502
        assert "not JSON" in shaped(await response.read())["message"]
        await quiet(running)


async def test_pass_through_is_as_it_is(tmp_path: Path) -> None:
    raw = b"\x00\x01binary secret bomb\xff"
    script = answers(raw, 200, {"content-type": "application/x-thing; v=1"})
    async with upstream(script) as (url, up), gateway(tmp_path, [url], GUARD) as running:
        async with running.http.post(f"{running.url}/tokenize?a=1&b=%20c", data=b"secret bomb") as response:
            assert await response.read() == raw
            assert response.headers["content-type"] == "application/x-thing; v=1"
            assert "x-retrace-verdict" not in response.headers
        assert up.calls[-1].path == "/tokenize?a=1&b=%20c"
        assert up.calls[-1].body == b"secret bomb"


async def test_a_model_that_nobody_serves_is_told(tmp_path: Path) -> None:
    async with (
        upstream(silent) as (url, up),
        gateway(tmp_path, [url], backend={"models": ["llama-*", "qwen"]}) as running,
    ):
        for model, path in itertools.product(("gpt-9", "", "Qwen"), ("/v1/chat/completions", "/v1/embeddings")):
            status, _, body = await answered(running, post({**CHAT, "model": model}, path))
            assert status == 400
            assert shaped(body)["param"] == "model"
        assert up.calls == []
        await quiet(running)


async def test_what_asks_of_no_model_goes_to_the_first_backend(tmp_path: Path) -> None:
    async with (
        upstream(answers(b'{"object": "list", "data": []}')) as (url, up),
        gateway(tmp_path, [url], backend={"models": ["llama-*"], "health_path": "/health"}) as running,
    ):
        async with running.http.get(f"{running.url}/v1/models") as response:
            assert response.status == 200
        asked = [seen.path for seen in up.seen if seen.path not in ("/health", "/retrace/v1/health")]
        assert asked == ["/v1/models"]


async def test_names_as_long_as_a_book_are_refused(tmp_path: Path) -> None:
    async with upstream(silent) as (url, up), gateway(tmp_path, [url], GUARD) as running:
        for body, param in (
            ({**CHAT, "model": "m" * 10_000}, "model"),
            ({"model": "m", "messages": [{"role": "r" * 10_000, "content": "x"}]}, "messages[0].role"),
        ):
            status, _, told = await answered(running, post(body))
            assert status == 400
            assert shaped(told)["param"] == param
        assert up.calls == []
