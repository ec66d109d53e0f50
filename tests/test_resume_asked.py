"""What an endpoint is asked for when an answer goes on; what it takes is found out, and remembered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from tests.continued import BAD, CONTINUED, RULES, WHOLE, events, guaranteed, in_turn, is_more, kept, served, stream
from tests.rig import DONE, Seen, gateway, http, payloads, quiet, said, text_delta, upstream


async def test_an_endpoint_that_can_not_continue_is_told_to(tmp_path: Path) -> None:
    def refuses(seen: Seen) -> bytes:
        told = b'{"error": {"message": "Unrecognized request argument: continue_final_message, bad_words"}}'
        return http(told, 400) if {"continue_final_message", "bad_words"} & seen.json.keys() else b""

    script = in_turn(events(BAD), events(["pays a return ", "that varies."]), more=refuses)
    async with served(tmp_path, script, RULES) as (running, up):
        body = await stream(running)
        again = await stream(running)
    assert said(body) == "The fund is safe and pays a return that varies."
    assert said(again) == "pays a return that varies."
    tries = [call.json["messages"][-1]["role"] for call in up.calls]
    assert tries == ["user", "assistant", "user", "user"]
    assert up.calls[2].json["messages"][-2] == {"role": "assistant", "content": "The fund is safe and pays a"}


@pytest.mark.parametrize("status", [400, 500, 503])
async def test_an_endpoint_that_will_not_go_on_is_an_error_as_any_other(tmp_path: Path, status: int) -> None:
    def refuses(seen: Seen) -> bytes:
        return http(b'{"error": {"message": "no"}}', status) if len(seen.json["messages"]) > 1 else b""

    async with (
        upstream(in_turn(events(BAD), more=refuses)) as (url, _),
        gateway(tmp_path, [url], RULES) as run,
    ):
        body = await stream(run)
        async with await run.chat() as response:
            whole = response.status
        await quiet(run)
    assert b'"error"' in body
    assert b"[DONE]" not in body
    assert whole == 502
    assert "guaranteed" not in said(body)


async def test_completions_go_on_from_their_prompt(tmp_path: Path) -> None:
    def made(*texts: str) -> list[bytes]:
        return [*map(text_delta, texts), text_delta(finish="stop"), DONE]

    async with served(tmp_path, in_turn(made(*BAD), made(*CONTINUED)), RULES) as (running, up):
        asked = {"model": "m", "prompt": "Say:", "stream": True, "max_tokens": 50}
        body = await running.ask("/v1/completions", asked)
    text = "".join(c["text"] for d in payloads(body)[:-1] for c in d["choices"])
    assert text == WHOLE
    assert up.calls[1].json["prompt"] == "Say:The fund is safe and pays a"
    assert 40 < up.calls[1].json["max_tokens"] < 50


# What an endpoint takes is found out.


def refusing(message: str, *fields: str, times: int = 99) -> tuple[Callable[[Seen], bytes], list[int]]:
    """What refuses calls that ask for any of these, or all that go on; and how often it did."""
    count = [0]

    def refuses(seen: Seen) -> bytes:
        goes_on = len(seen.json["messages"]) > 1
        if (set(fields) & seen.json.keys() if fields else goes_on) and count[0] < times:
            count[0] += 1
            return http(orjson.dumps({"error": {"message": message}}), 400)
        return b""

    return refuses, count


@pytest.mark.parametrize("names", [True, False])
async def test_what_was_refused_is_not_asked_for_again(tmp_path: Path, names: bool) -> None:
    refuses, count = refusing("unknown field: bad_words" if names else "unknown field", "bad_words")
    turns = [events(BAD), events(CONTINUED)] * 2
    async with served(tmp_path, in_turn(*turns, more=refuses), RULES) as (running, up):
        bodies = [await stream(running), await stream(running)]
    assert [said(body) for body in bodies] == [WHOLE, WHOLE]
    assert count == [1]
    assert is_more(up.calls[2]) is names  # who does not say what is wrong is asked for neither
    assert len(up.calls) == 5


async def test_a_refusal_that_is_about_something_else_is_not_remembered(tmp_path: Path) -> None:
    refuses, _ = refusing("maximum context length exceeded", times=2)
    turns = [events(BAD), events(BAD), events(CONTINUED)]
    async with served(tmp_path, in_turn(*turns, more=refuses), RULES) as (running, up):
        body = await stream(running)
        assert b'"error"' in body
        again = await stream(running)
        await quiet(running)
    assert said(again) == WHOLE
    assert [is_more(call) for call in up.calls] == [False, True, False, False, True]
    assert up.calls[-1].json["bad_words"] == ["guaranteed"]


async def test_words_that_are_told_anew_are_kept_apart_from_those_before(tmp_path: Path) -> None:
    refuses, _ = refusing("continue_final_message", "continue_final_message")
    script = in_turn(events(BAD), events(["return that ", "varies."]), more=refuses)
    async with served(tmp_path, script, RULES) as (running, up):
        body = await stream(running)
    assert said(body) == "The fund is safe and pays a return that varies."
    assert up.calls[-1].json["bad_words"] == ["guaranteed"]


# Of what is asked for.


async def test_of_json_nothing_is_asked_that_only_a_whole_answer_can_have(tmp_path: Path) -> None:
    bad = ['{"a": "fine", ', '"b": "guaranteed ', 'return"}']
    steer = {"say": {"en": " Instead:"}, "tell": {"en": "Promise nothing."}}
    rule = guaranteed(anchors=[{"type": "json"}], steer=steer)
    shape = {"type": "json_object"}
    async with served(tmp_path, in_turn(events(bad), events([', "b": "none"}'])), [rule]) as (running, up):
        body = await stream(running, response_format=shape)
    assert orjson.loads(said(body)) == {"a": "fine", "b": "none"}
    assert kept(up.calls[1]) == '{"a": "fine"'
    assert up.calls[0].json["response_format"] == shape
    assert "response_format" not in up.calls[1].json
    assert up.calls[1].json["messages"][0]["content"].endswith("Promise nothing.")


@pytest.mark.parametrize("token", [",", ":", "}", '"', "a"])
async def test_it_goes_on_with_any_token(tmp_path: Path, token: str) -> None:
    async with served(tmp_path, in_turn(events(BAD), events([token, " so"])), RULES) as (running, _):
        body = await stream(running)
    assert said(body) == f"The fund is safe and pays a{token} so"
