"""A stream that breaks a rule is cut back and goes on: what the client sees, the endpoint hears, what is counted."""

from __future__ import annotations

import asyncio
from pathlib import Path

import orjson
import pytest

from tests.continued import BAD, CONTINUED, RULES, WHOLE, events, guaranteed, in_turn, is_more, kept, served, stream
from tests.rig import DONE, answers, completion, delta, payloads, quiet, regex, said, usage_event


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


async def test_an_endpoint_that_does_not_stream_is_judged_as_ever(tmp_path: Path) -> None:
    script = answers(completion("It is guaranteed."))
    async with served(tmp_path, script, RULES) as (running, _), await running.chat() as response:
        body = orjson.loads(await response.read())
    assert body["choices"][0]["finish_reason"] == "content_filter"


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
