"""A stream that breaks a rule is cut back and goes on: what the client sees, the endpoint hears, what is counted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.rig import (
    DONE,
    RawUpstream,
    Running,
    Script,
    Seen,
    answers,
    chunk,
    completion,
    delta,
    gateway,
    http,
    payloads,
    quiet,
    regex,
    said,
    stream_head,
    text_delta,
    upstream,
    usage_event,
)

BAD = ["The fund ", "is safe and ", "pays a guaranteed ", "return of nine ", "percent."]
CONTINUED = [" return that ", "depends on the market."]
WHOLE = "The fund is safe and pays a return that depends on the market."


def guaranteed(**rewind: Any) -> dict[str, Any]:
    return regex("guaranteed|稳赚", action="rewind", **({"rewind": rewind} if rewind else {}))


def is_more(seen: Seen) -> bool:
    """Whether a call goes on with an answer."""
    return seen.json.get("continue_final_message") is True or seen.json["messages"][-1]["role"] == "assistant"


def kept(seen: Seen) -> str:
    return str(seen.json["messages"][-1]["content"])


def events(texts: Sequence[str], name: str = "chatcmpl-1", prompt: int = 7) -> list[bytes]:
    made = [delta("", role="assistant"), *map(delta, texts), delta(finish="stop"), usage_event(prompt, len(texts))]
    return [piece.replace(b"chatcmpl-1", name.encode()) for piece in (*made, DONE)]


def in_turn(*turns: Sequence[bytes], pause: float = 0.0, more: Callable[[Seen], bytes] | None = None) -> Script:
    """Each call gets the next of these streams; the last one is for all further ones."""
    left = list(turns)

    async def script(seen: Seen, writer: asyncio.StreamWriter) -> None:
        refusal = more(seen) if more is not None else b""
        if refusal:
            writer.write(refusal)
            return
        pieces = left.pop(0) if len(left) > 1 else left[0]
        writer.write(stream_head())
        for piece in pieces:
            writer.write(chunk(piece))
            await writer.drain()
            await asyncio.sleep(pause)
        writer.write(chunk(b""))

    return script


async def stream(running: Running, **fields: Any) -> bytes:
    async with await running.chat(stream=True, **fields) as response:
        assert response.status == 200
        return await response.read()


RULES = [guaranteed()]


@asynccontextmanager
async def served(
    folder: Path, script: Script, rules: list[dict[str, Any]]
) -> AsyncIterator[tuple[Running, RawUpstream]]:
    """A gateway with these rules, and what it asks of an endpoint that follows the script."""
    async with upstream(script) as (url, up), gateway(folder, [url], rules) as running:
        yield running, up


@pytest.mark.parametrize("pause", [0.0, 0.01])
async def test_the_client_sees_one_clean_stream(tmp_path: Path, pause: float) -> None:
    script = in_turn(events(BAD), events(CONTINUED, "chatcmpl-2", 12), pause=pause)
    async with served(tmp_path, script, RULES) as (running, up):
        body = await stream(running, stream_options={"include_usage": True})
        await quiet(running)
    assert said(body) == WHOLE
    told = payloads(body)
    assert told[-1] == "[DONE]"
    assert {data["id"] for data in told[:-1]} == {"chatcmpl-1"}
    assert [c["delta"].get("role") for d in told[:-1] for c in d["choices"]].count("assistant") == 1
    assert [c["finish_reason"] for d in told[:-1] for c in d["choices"] if c["finish_reason"]] == ["stop"]
    first, second = up.calls
    assert not is_more(first)
    assert kept(second) == "The fund is safe and pays a"
    assert second.json["add_generation_prompt"] is False
    assert second.json["bad_words"] == ["guaranteed"]
    assert first.closed.is_set() or not pause


async def test_a_client_that_does_not_stream_gets_its_answer_whole(tmp_path: Path) -> None:
    script = in_turn(events(BAD), events(CONTINUED))
    async with served(tmp_path, script, RULES) as (running, _), await running.chat() as response:
        body = orjson.loads(await response.read())
        verdict = response.headers["x-retrace-verdict"]
    assert body["object"] == "chat.completion"
    message = body["choices"][0]["message"]
    assert message == {"role": "assistant", "content": WHOLE}
    assert body["choices"][0]["finish_reason"] == "stop"
    assert verdict == "rewind"


async def test_an_answer_that_breaks_nothing_is_the_bytes_that_came(tmp_path: Path) -> None:
    fine = events(CONTINUED)
    async with served(tmp_path, in_turn(fine), RULES) as (running, up):
        body = await stream(running, stream_options={"include_usage": True})
        async with await running.chat() as response:
            whole = orjson.loads(await response.read())
    assert body == b"".join(fine)
    assert whole["choices"][0]["message"]["content"] == "".join(CONTINUED)
    assert whole["usage"]["total_tokens"] == 9
    assert len(up.calls) == 2


async def test_usage_is_true_of_all_calls_and_tells_what_was_lost(tmp_path: Path) -> None:
    script = in_turn(events(BAD), events(CONTINUED, prompt=10))
    async with served(tmp_path, script, RULES) as (running, _):
        body = await stream(running, stream_options={"include_usage": True})
        told = await running.metrics()
    (usage,) = [data["usage"] for data in payloads(body)[:-1] if data.get("usage")]
    attempt = usage.pop("retrace")
    assert attempt["attempts"] == 2
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"] == 12
    assert usage["completion_tokens"] > 2  # what stands of the first call is part of the answer
    assert attempt["wasted_tokens"] >= 1
    assert told['retrace_rewinds_total{anchor="word",reason="R101"}'] == 1
    assert told['retrace_wasted_tokens_total{reason="R101"}'] == attempt["wasted_tokens"]
    assert told['retrace_verdicts_total{action="rewind",reason="R101",rule="output.regex",side="output"}'] == 1


@pytest.mark.parametrize(
    ("otherwise", "ends", "text"),
    [
        ("block", "content_filter", "The fund is safe and pays a "),
        ("tag", "stop", "The fund is safe and pays a guaranteed return of nine percent."),
    ],
)
async def test_once_the_budget_is_spent_the_rule_means_something_else(
    tmp_path: Path, otherwise: str, ends: str, text: str
) -> None:
    again = events([" guaranteed ", "return of nine ", "percent."])
    rule = guaranteed(budget=2, **{"else": otherwise})
    async with served(tmp_path, in_turn(events(BAD), again), [rule]) as (running, up):
        body = await stream(running)
        await quiet(running)
    assert len(up.calls) == 3
    assert said(body) == text
    assert [c["finish_reason"] for d in payloads(body)[:-1] for c in d["choices"] if c["finish_reason"]] == [ends]


async def test_what_was_found_is_banned_from_all_that_follows(tmp_path: Path) -> None:
    second = events([" 稳赚 ", "return"])
    script = in_turn(events(BAD), second, events(CONTINUED))
    async with served(tmp_path, script, RULES) as (running, up):
        await stream(running, bad_words=["never"])
    assert [call.json["bad_words"] for call in up.calls] == [
        ["never"],
        ["never", "guaranteed"],
        ["never", "guaranteed", "稳赚"],
    ]


async def test_it_can_be_cut_back_to_a_sentence(tmp_path: Path) -> None:
    told = ["First this. ", "Then that. ", "It is guaranteed ", "to work."]
    rule = guaranteed(anchors=[{"type": "sentence"}])
    script = in_turn(events(told), events([" It may work."]))
    async with served(tmp_path, script, [rule]) as (running, up):
        body = await stream(running)
    assert kept(up.calls[1]) == "First this. Then that."
    assert said(body) == "First this. Then that. It may work."


async def test_chinese_is_cut_back_like_english(tmp_path: Path) -> None:
    told = ["这款产品", "期限三年。", "它稳赚", "不赔。"]
    rule = guaranteed(anchors=[{"type": "sentence"}])
    async with served(tmp_path, in_turn(events(told), events(["收益随市场变化。"])), [rule]) as (running, up):
        body = await stream(running)
    assert kept(up.calls[1]) == "这款产品期限三年。"
    assert said(body) == "这款产品期限三年。收益随市场变化。"


async def test_words_can_lead_the_model_past_it(tmp_path: Path) -> None:
    steer = {"say": {"en": " variable", "zh": "浮动的"}, "tell": {"en": "Promise nothing.", "zh": "不要承诺。"}}
    async with served(tmp_path, in_turn(events(BAD), events(CONTINUED)), [guaranteed(steer=steer, ban=False)]) as (
        running,
        up,
    ):
        body = await stream(running)
    assert said(body) == "The fund is safe and pays a variable return that depends on the market."
    messages = up.calls[1].json["messages"]
    assert messages[-1]["content"] == "The fund is safe and pays a variable"
    assert messages[0]["content"] == "hi\n\nPromise nothing."
    assert "bad_words" not in up.calls[1].json


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


async def test_what_is_found_in_a_call_drops_the_call(tmp_path: Path) -> None:
    def call(text: str, index: int = 0) -> bytes:
        function = {"name": "order", "arguments": text} if text == "{" else {"arguments": text}
        return delta(tool_calls=[{"index": index, "id": "c1", "type": "function", "function": function}])

    bad = [delta("Let me see. "), call("{"), call('"note": "guaranteed"}'), delta(finish="tool_calls"), DONE]
    good = [delta(""), call("{"), call('"note": "fine"}'), delta(finish="tool_calls"), DONE]
    async with served(tmp_path, in_turn(bad, good), RULES) as (running, up):
        body = await stream(running)
    arguments = [
        part["function"].get("arguments", "")
        for data in payloads(body)[:-1]
        for c in data["choices"]
        for part in c["delta"].get("tool_calls") or ()
    ]
    assert orjson.loads("".join(arguments)) == {"note": "fine"}
    assert b"guaranteed" not in body
    assert kept(up.calls[1]) == "Let me see. "


async def test_of_two_choices_only_the_one_that_broke_a_rule_goes_on_anew(tmp_path: Path) -> None:
    first = [delta("All is ", 0), delta("Mine is ", 1), delta("guaranteed here.", 0), delta("fine.", 1)]
    first += [delta(finish="stop", index=0), delta(finish="stop", index=1), usage_event(7, 6), DONE]
    async with served(tmp_path, in_turn(first, events([" well."])), RULES) as (running, up):
        body = await stream(running, n=2)
    assert (said(body, 0), said(body, 1)) == ("All is well.", "Mine is fine.")
    assert "n" not in up.calls[1].json
    ends = [(c["index"], c["finish_reason"]) for d in payloads(body)[:-1] for c in d["choices"] if c["finish_reason"]]
    assert sorted(ends) == [(0, "stop"), (1, "stop")]


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


async def test_an_endpoint_that_does_not_stream_is_judged_as_ever(tmp_path: Path) -> None:
    script = answers(completion("It is guaranteed."))
    async with served(tmp_path, script, RULES) as (running, _), await running.chat() as response:
        body = orjson.loads(await response.read())
    assert body["choices"][0]["finish_reason"] == "content_filter"


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


async def test_masks_and_rewinds_go_together(tmp_path: Path) -> None:
    rules = [guaranteed(), regex("safe", action="mask", id="mask")]
    async with served(tmp_path, in_turn(events(BAD), events(CONTINUED)), rules) as (running, up):
        body = await stream(running)
    assert said(body) == "The fund is *** and pays a return that depends on the market."
    assert kept(up.calls[1]) == "The fund is *** and pays a"


async def test_a_client_that_leaves_ends_the_call_that_goes_on(tmp_path: Path) -> None:
    slow = [delta("word "), *([delta("more ")] * 200)]
    async with served(tmp_path, in_turn(events(BAD), slow, pause=0.02), RULES) as (running, up):
        async with await running.chat(stream=True) as response:
            got = b""
            while b"more" not in got:
                got += await response.content.readany()
            response.close()
        await asyncio.wait_for(up.calls[-1].closed.wait(), 2)
        await quiet(running)


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


async def test_rules_for_calls_alone_cut_calls_back(tmp_path: Path) -> None:
    def call(arguments: str) -> list[bytes]:
        function = {"name": "order", "arguments": arguments}
        made = delta(tool_calls=[{"index": 0, "id": "c1", "type": "function", "function": function}])
        return [made, delta(finish="tool_calls"), usage_event(), DONE]

    rule = guaranteed(anchors=[{"type": "sentence"}]) | {"when": {"role": "tool_call"}}
    script = in_turn(call('{"note": "guaranteed"}'), call('{"note": "fine"}'))
    async with served(tmp_path, script, [rule]) as (running, up), await running.chat() as response:
        body = orjson.loads(await response.read())
    (choice,) = body["choices"]
    assert orjson.loads(choice["message"]["tool_calls"][0]["function"]["arguments"]) == {"note": "fine"}
    assert choice["finish_reason"] == "tool_calls"
    assert len(up.calls) == 2


# Several choices.

ALL = [delta("All is ", 0), delta("Mine is ", 1), delta("guaranteed here.", 0)]


@pytest.mark.parametrize("pause", [0.0, 0.01])
@pytest.mark.parametrize("counted", [True, False])
async def test_usage_of_several_choices_is_that_of_all(tmp_path: Path, pause: float, counted: bool) -> None:
    """Where the first call never came to tell it, since it was ended, the events of the other choices are counted."""
    rest = [delta("fine.", 1), delta(finish="stop", index=1), delta(" And more."), delta(finish="stop")]
    first = [*ALL, *rest, *([usage_event(7, 6)] if counted else []), DONE]
    script = in_turn([b"".join(first)] if counted else first, events([" well."], prompt=8), pause=pause)
    async with served(tmp_path, script, RULES) as (running, _):
        body = await stream(running, n=2, stream_options={"include_usage": True})
    assert (said(body, 0), said(body, 1)) == ("All is well.", "Mine is fine.")
    (usage,) = [data["usage"] for data in payloads(body)[:-1] if data.get("usage")]
    # Of six tokens the rule took three away; then one more was said.
    assert usage["completion_tokens"] == (6 - 3 + 1 if counted else 2 + 1)
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    assert usage["retrace"]["attempts"] == 2


async def test_both_of_two_choices_go_on_one_after_the_other(tmp_path: Path) -> None:
    first = [*ALL, delta("guaranteed too.", 1), usage_event(7, 4), DONE]
    more = [events([" well."], prompt=8), events([" good."], prompt=9)]
    async with served(tmp_path, in_turn([b"".join(first)], *more), RULES) as (running, up):
        async with await running.chat(n=2) as response:
            whole = orjson.loads(await response.read())
        await quiet(running)
    texts = [choice["message"]["content"] for choice in whole["choices"]]
    assert sorted(texts) == ["All is good.", "Mine is well."]
    assert [choice["finish_reason"] for choice in whole["choices"]] == ["stop", "stop"]
    assert {kept(call) for call in up.calls[1:]} == {"All is", "Mine is"}
    assert whole["usage"]["completion_tokens"] == 2
    assert whole["usage"]["retrace"] == {"attempts": 3, "wasted_tokens": 4}


async def test_each_choice_of_several_prompts_goes_on_from_its_own(tmp_path: Path) -> None:
    first = [text_delta("One. ", 0), text_delta("Two is ", 1), text_delta("guaranteed ", 1)]
    first += [text_delta(finish="stop", index=n) for n in range(2)]
    more = [text_delta(" fine."), text_delta(finish="stop"), DONE]
    async with served(tmp_path, in_turn([*first, DONE], more), RULES) as (running, up):
        await running.ask("/v1/completions", {"model": "m", "prompt": ["First:", "Second:"], "stream": True})
    assert up.calls[1].json["prompt"] == "Second:Two is"


# What is told of it.


@pytest.mark.parametrize("asks", [True, False])
@pytest.mark.parametrize("whole", [True, False])
async def test_how_often_and_why_is_told_to_who_asks(tmp_path: Path, asks: bool, whole: bool) -> None:
    again = events([" guaranteed ", "too."])
    headers = {"x-retrace-explain": "1"} if asks else {}
    async with (
        served(tmp_path, in_turn(events(BAD), again, events(CONTINUED)), RULES) as (running, _),
        await running.chat(headers=headers, stream=not whole) as response,
    ):
        body = await response.read()
    told = [orjson.loads(body)] if whole else payloads(body)[:-1]
    notes = [choice["retrace"] for data in told for choice in data["choices"] if "retrace" in choice]
    if not asks:
        assert notes == []
        return
    ((first, second),) = [note["attempts"] for note in notes]
    assert {name: first[name] for name in ("reason", "rule", "anchor")} == {
        "reason": "R101",
        "rule": "output.regex",
        "anchor": "word",
    }
    assert (first["kept"], second["kept"]) == (2, 0)
    assert first["wasted"] >= 1
    assert second["wasted"] >= 1


async def test_an_answer_that_is_ended_after_all_tells_both(tmp_path: Path) -> None:
    script = in_turn(events(BAD), events([" guaranteed ", "too."]))
    async with (
        served(tmp_path, script, [guaranteed(budget=1)]) as (running, _),
        await running.chat(headers={"x-retrace-explain": "1"}, stream=True) as response,
    ):
        body = await response.read()
        told = await running.metrics()
    (note,) = [c["retrace"] for data in payloads(body)[:-1] for c in data["choices"] if "retrace" in c]
    assert (note["verdict"], note["reason"], len(note["attempts"])) == ("block", "R101", 1)
    assert told['retrace_exchanges_total{surface="chat",verdict="block"}'] == 1
