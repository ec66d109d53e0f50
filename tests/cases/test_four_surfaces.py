"""What a client is told is the same on all four surfaces, each in its own words, as its official SDK reads them."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import anthropic
import openai
import orjson
import pytest

from gateway.keys import hashed, new_key
from tests.answering import says
from tests.dialects import ENDED, FILTERED, FOREIGN, SURFACES, Told, before, clients, refused
from tests.rig import DONE, delta, gateway, http, quiet, regex, rule, streams, upstream
from tests.surfaces.clients import parsed
from tests.test_server import keys

surfaces = pytest.mark.parametrize("surface", SURFACES)
foreign = pytest.mark.parametrize("surface", FOREIGN)
streamed = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
USED = (7, 5)


@streamed
@surfaces
async def test_an_answer_is_what_the_model_said(tmp_path: Path, surface: str, stream: bool) -> None:
    words = ("Hel", "lo, ", "世", "界", "🙂", " e\u0301 \u202e", '"q"\n\\', "\u2028")
    async with before(tmp_path, says(*words)) as (sdks, up):
        told = await sdks.ask(surface, stream, "说 hi")
        assert told == Told("".join(words), ENDED[surface], USED)
        assert "说 hi" in str(up.calls[0].json)
        assert sdks.head["x-retrace-verdict"] == "allow"
        assert sdks.head["x-retrace-delivery"] == "live"
        assert sdks.head["x-retrace-id"].startswith("rt-")
        assert sdks.head["x-request-id"] == sdks.head["x-retrace-id"]
        assert "x-retrace-reason" not in sdks.head


@streamed
@surfaces
@pytest.mark.parametrize("finish", ["length", "content_filter"])
async def test_why_the_model_ended_is_told(tmp_path: Path, surface: str, stream: bool, finish: str) -> None:
    cut = {"responses": "max_output_tokens", "messages": "max_tokens"}.get(surface, "length")
    async with before(tmp_path, says("one ", "two", finish=finish)) as (sdks, _):
        told = await sdks.ask(surface, stream)
    assert told == Told("one two", cut if finish == "length" else FILTERED[surface], USED)


@streamed
@surfaces
@pytest.mark.parametrize(("said", "message"), [("the bad word", "Not this."), ("这是坏词。", "此内容不可。")])
async def test_C27_a_blocked_prompt_is_a_bad_request_that_reaches_nobody(
    tmp_path: Path, surface: str, stream: bool, said: str, message: str
) -> None:
    async with before(tmp_path, says("x"), [regex("bad word|坏词", side="input")]) as (sdks, up):
        with refused() as told:
            await sdks.ask(surface, stream, said)
        assert told[0].raised in (openai.BadRequestError, anthropic.BadRequestError)
        assert told[0][1:4] == (400, "content_filter", f"[R101] {message}")
        assert told[0].said["type"] == "invalid_request_error"
        assert told[0].said["retrace"] == {"reason": "R101", "rule": "input.regex"}
        assert sdks.head["x-retrace-verdict"] == "block"
        assert sdks.head["x-retrace-reason"] == "R101"
        assert sdks.head["x-should-retry"] == "false"
        assert up.calls == []
        metrics = await sdks.running.metrics()
    assert metrics[f'retrace_exchanges_total{{surface="{surface}",verdict="block"}}'] == 1


@streamed
@surfaces
async def test_a_canned_answer_raises_nothing(tmp_path: Path, surface: str, stream: bool) -> None:
    async with before(tmp_path, says("x"), [regex("bad", side="input", respond="answer")]) as (sdks, up):
        told = await sdks.ask(surface, stream, "bad")
        assert (told.text, told.finish) == ("Not this.", FILTERED[surface])
        assert up.calls == []


@pytest.mark.parametrize("explain", [True, False])
@streamed
@surfaces
async def test_C26_a_blocked_answer_ends_in_the_surface_s_own_words(
    tmp_path: Path, surface: str, stream: bool, explain: bool
) -> None:
    headers = {"x-retrace-explain": "1"} if explain else {}
    async with before(tmp_path, says("it is a sec", "ret wo", "rd you see"), [regex("secret word")]) as (sdks, _):
        told = await sdks.ask(surface, stream, extra_headers=headers)
        assert (told.text, told.finish) == ("it is a ", FILTERED[surface])
        assert (told.note or {}).get("reason") == ("R101" if explain else None)
        metrics = await sdks.running.metrics()
        assert metrics[f'retrace_exchanges_total{{surface="{surface}",verdict="block"}}'] == 1
        labels = 'action="block",reason="R101",rule="output.regex",side="output"'
        assert metrics[f"retrace_verdicts_total{{{labels}}}"] == 1


MAIL = "user@example.com"
SAID = f"Write to {MAIL} soon"


@pytest.mark.parametrize("action", ["mask", "block"])
@surfaces
async def test_C22_a_value_is_found_however_the_stream_is_cut(tmp_path: Path, surface: str, action: str) -> None:
    rules = [rule({"type": "pii", "kinds": ["email"]}, action)]
    cuts: list[tuple[str, ...]] = [(SAID[:place], SAID[place:]) for place in range(9, 9 + len(MAIL))]
    cuts += [tuple(SAID[place : place + size] for place in range(0, len(SAID), size)) for size in (1, 3)]
    async with before(tmp_path, says("x"), rules) as (sdks, up):
        for pieces in cuts:
            up.script = says(*pieces)
            told = await sdks.ask(surface, True)
            expected = ("Write to *** soon", ENDED) if action == "mask" else ("Write to ", FILTERED)
            assert (told.text, told.finish) == (expected[0], expected[1][surface])


@streamed
@surfaces
async def test_what_a_rule_masks_is_masked_both_ways(tmp_path: Path, surface: str, stream: bool) -> None:
    rules = [regex("private", id="in", side="input", action="mask"), regex("私密", id="out", action="mask")]
    async with before(tmp_path, says("这是私", "密的", "事"), rules) as (sdks, up):
        told = await sdks.ask(surface, stream, "my private life")
        assert told == Told("这是***的事", ENDED[surface], USED)
        assert "my *** life" in str(up.calls[0].json)
        assert b"private" not in up.calls[0].body
        assert sdks.head["x-retrace-verdict"] == "mask"


@streamed
@surfaces
@pytest.mark.parametrize("meant", SURFACES)
async def test_C31_a_rule_for_one_surface_touches_no_other(
    tmp_path: Path, surface: str, stream: bool, meant: str
) -> None:
    async with before(tmp_path, says("a forbidden word"), [regex("forbidden", when={"surface": meant})]) as (sdks, _):
        told = await sdks.ask(surface, stream)
    assert told.text == ("a " if surface == meant else "a forbidden word")
    assert told.finish == (FILTERED if surface == meant else ENDED)[surface]


@streamed
@surfaces
async def test_C31_a_rule_for_one_tenant_touches_no_other(tmp_path: Path, surface: str, stream: bool) -> None:
    one, two = new_key(), new_key()
    tiers = keys(tmp_path, {"hash": hashed(one), "tenant": "a"}, {"hash": hashed(two), "tenant": "b"})
    rules = [regex("forbidden", when={"tenant": "b"})]
    async with upstream(says("a forbidden word")) as (url, _), gateway(tmp_path, [url], rules, tiers=tiers) as running:
        for key, text in ((one, "a forbidden word"), (two, "a ")):
            async with clients(running, key) as sdks:  # one SDK sends `authorization`, the other `x-api-key`
                assert (await sdks.ask(surface, stream)).text == text
        async with clients(running, "wrong") as sdks:
            with refused() as told:
                await sdks.ask(surface, stream)
        assert told[0].raised in (openai.AuthenticationError, anthropic.AuthenticationError)
        assert (told[0].status, told[0].code, told[0].said["type"]) == (401, "invalid_api_key", "authentication_error")
        await quiet(running)


COUNTED = [f'retrace_tokens_total{{kind="{kind}",tenant="default"}}' for kind in ("prompt", "completion")]
ENDS: dict[str, list[bytes]] = {
    "beside an empty delta": [delta("hi"), delta(finish="stop"), b""],
    "beside the finish": [delta("hi"), b"stop"],
    "on every chunk": [b"", b"stop"],
}


@foreign
@pytest.mark.parametrize("end", ENDS)
async def test_C12_usage_counts_wherever_it_stands(tmp_path: Path, surface: str, end: str) -> None:
    details = {"prompt_tokens_details": {"cached_tokens": 3}, "completion_tokens_details": {"reasoning_tokens": 2}}
    usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12, **details}

    def told(event: bytes) -> bytes:
        said = {"content": "hi"} if event == b"" and end == "on every chunk" else {}
        choice = {"index": 0, "delta": said, "finish_reason": event.decode() or None}
        data = {"id": "c", "model": "m", "choices": [choice], "usage": usage}
        return b"data: " + orjson.dumps(data) + b"\n\n"

    events = [event if event.startswith(b"data") else told(event) for event in ENDS[end]]
    async with before(tmp_path, streams([*events, DONE])) as (sdks, _):
        answer = await sdks.ask(surface, True)
        metrics = await sdks.running.metrics()
    # Anthropic's clients add what came from a cache to the rest.
    assert answer == Told("hi", ENDED[surface], (7 - 3, 5) if surface == "messages" else (7, 5))
    assert [metrics[name] for name in COUNTED] == [7, 5]


@foreign
async def test_C13_a_backend_that_counts_no_stream_is_asked_without(tmp_path: Path, surface: str) -> None:
    async def script(seen: Any, writer: Any) -> None:
        if "stream_options" in seen.json:
            writer.write(http(b'{"error":{"message":"Unrecognized request argument: stream_options"}}', 400))
        else:
            await says("ok", used=None)(seen, writer)

    async with before(tmp_path, script) as (sdks, up):
        for calls in (2, 3):  # learnt at the first, remembered at the second
            told = await sdks.ask(surface, True)
            assert told == Told("ok", ENDED[surface], (0, 0) if surface == "messages" else None)
            assert len(up.calls) == calls


@streamed
@surfaces
async def test_C18_the_record_says_what_the_wire_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, surface: str, stream: bool
) -> None:
    caplog.set_level(logging.DEBUG, "gateway.ledger")
    async with before(tmp_path, says("a ", "b", finish="length")) as (sdks, _):
        await sdks.ask(surface, stream)
        metrics = await sdks.running.metrics()
    (record,) = [orjson.loads(one.message) for one in caplog.records if one.name == "gateway.ledger"]
    assert (record["surface"], record["finish"], record["usage"]) == (surface, {"0": "length"}, [7, 5])
    assert metrics[f'retrace_exchanges_total{{surface="{surface}",verdict="allow"}}'] == 1
    labels = f'status="200",stream="{str(stream).lower()}",surface="{surface}"'
    assert metrics[f"retrace_requests_total{{{labels}}}"] == 1


@foreign
async def test_C23_no_second_choice_can_be_asked_for_nor_told(tmp_path: Path, surface: str) -> None:
    events = [delta("one", 0), delta("a secret", 1), delta(finish="stop"), delta(None, 1, "stop"), DONE]
    async with before(tmp_path, streams(events)) as (sdks, up):
        with refused() as told:
            await sdks.ask(surface, True, extra_body={"n": 2})
        assert "`n`" in told[0].message
        assert up.calls == []
        assert (await sdks.ask(surface, True)).text == "one"


BLOCK = ("content_block_start", "content_block_delta", "content_block_stop")
ITEM = "response.output_item"
TEXT = ("response.content_part.added", "response.output_text.delta", "response.output_text.done")
CALL = ("response.function_call_arguments.delta", "response.function_call_arguments.done")
ORDER = {
    "messages": ["message_start", *BLOCK, *BLOCK, "message_delta", "message_stop"],
    "responses": [
        *("response.created", "response.in_progress"),
        *(f"{ITEM}.added", *TEXT, "response.content_part.done", f"{ITEM}.done"),
        *(f"{ITEM}.added", *CALL, f"{ITEM}.done"),
        "response.completed",
    ],
}


@foreign
async def test_C16_events_come_in_the_order_of_the_real_service(tmp_path: Path, surface: str) -> None:
    asked: dict[str, Any] = {"model": "m", "stream": True, "input": "hi"}
    if surface == "messages":
        asked = {"model": "m", "stream": True, "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
    script = says("one", calls=[("c1", "f", '{"a": 1}')], finish="tool_calls")
    async with before(tmp_path, script, [regex("secret", action="mask")]) as (sdks, _):
        body = await sdks.running.ask(f"/v1/{surface}", asked)
    events = parsed(body)
    assert [name for name, _ in events] == ORDER[surface]
    assert all(data["type"] == name for name, data in events)
    assert b"[DONE]" not in body
