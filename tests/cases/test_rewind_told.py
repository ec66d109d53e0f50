"""What clients are told of an answer that was cut back: as much as they ask for, in types that their SDKs know."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import anthropic.types
import openai.types
import openai.types.responses
import orjson
import pytest
from pydantic import BaseModel

from tests.answering import in_turn, says
from tests.dialects import ENDED, FILTERED, PATHS, SURFACES, before
from tests.refine.rigs import ANSWER, RATE, both, reads, refining
from tests.rig import DONE, Script, Seen, chat_stream, delta, payloads, quiet, regex, said, streams, usage_event

surfaces = pytest.mark.parametrize("surface", SURFACES)
streamed = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
BAD = says("The", " fund", " pays", " a", " guaranteed", " return.", used=(7, 6))
GOOD = says(" return ", "that varies.", used=(11, 4))
RIGHT = "The fund pays a return that varies."
ASKED: dict[str, dict[str, Any]] = {
    "chat": {"messages": [{"role": "user", "content": "hi"}]},
    "completions": {"prompt": "hi"},
    "responses": {"input": "hi"},
    "messages": {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 99},
}
USAGE: dict[str, type[BaseModel]] = {
    "chat": openai.types.CompletionUsage,
    "completions": openai.types.CompletionUsage,
    "responses": openai.types.responses.ResponseUsage,
    "messages": anthropic.types.Usage,
}


def gains(**rewind: Any) -> dict[str, Any]:
    return regex("guaranteed", action="rewind", **({"rewind": rewind} if rewind else {}))


@streamed
@surfaces
async def test_why_it_was_cut_back_is_told_to_who_asks(tmp_path: Path, surface: str, stream: bool) -> None:
    headers = {"x-retrace-explain": "1"}
    async with before(tmp_path, in_turn(BAD, GOOD), [gains()]) as (sdks, up):
        told = await sdks.ask(surface, stream, extra_headers=headers)
        (attempt,) = told.note["attempts"]
        assert (attempt["reason"], attempt["rule"], attempt["anchor"]) == ("R101", "output.regex", "word")
        assert attempt["kept"] + attempt["wasted"] >= 2
        assert (told.text, told.finish) == (RIGHT, ENDED[surface])
        up.script = in_turn(BAD, GOOD)
        assert (await sdks.ask(surface, stream)).note is None


@streamed
@surfaces
async def test_why_it_ended_after_all_is_told_beside_it(tmp_path: Path, surface: str, stream: bool) -> None:
    again = says(" guaranteed ", "return.", used=(11, 4))
    async with before(tmp_path, in_turn(BAD, again), [gains(budget=1)]) as (sdks, _):
        told = await sdks.ask(surface, stream, extra_headers={"x-retrace-explain": "1"})
    assert told.finish == FILTERED[surface]
    assert (told.note["verdict"], told.note["reason"]) == ("block", "R101")
    assert [attempt["rule"] for attempt in told.note["attempts"]] == ["output.regex"]


@surfaces
async def test_usage_is_of_the_types_that_sdks_expect(tmp_path: Path, surface: str) -> None:
    async with before(tmp_path, in_turn(BAD, GOOD), [gains()]) as (sdks, _):
        body = orjson.loads(await sdks.running.ask(PATHS[surface], {"model": "m", **ASKED[surface]}))
    read = USAGE[surface].model_validate(body["usage"], strict=True)
    counts = [value for name, value in read if name in ("prompt_tokens", "input_tokens")]
    assert counts == [7]  # eleven were asked the second time; four of them stand in the answer
    assert body["usage"]["retrace"]["attempts"] == 2
    assert body["usage"]["retrace"]["wasted_tokens"] >= 1


async def test_each_of_two_choices_is_whole_to_the_sdk(tmp_path: Path) -> None:
    first = [delta("", n, role="assistant") for n in range(2)]
    first += [delta("All is ", 0), delta("Mine is ", 1), delta("guaranteed.", 0), delta("fine.", 1)]
    first += [*(delta(finish="stop", index=n) for n in range(2)), usage_event(7, 6), DONE]
    asked: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "n": 2}
    async with before(tmp_path, in_turn(streams(first), GOOD), [gains()]) as (sdks, up):
        async with sdks.gpt.chat.completions.stream(**asked) as events:
            await events.until_done()
            choices = events.current_completion_snapshot.choices
        up.script = in_turn(streams(first), GOOD)
        whole = (await sdks.gpt.chat.completions.create(**asked)).choices
    for told in (choices, whole):
        assert [choice.message.content for choice in told] == ["All is return that varies.", "Mine is fine."]
        assert [choice.finish_reason for choice in told] == ["stop", "stop"]
        assert [choice.message.role for choice in told] == ["assistant", "assistant"]


def late(script: Script) -> Script:
    async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.1)
        await script(seen, writer)

    return answer


@surfaces
async def test_a_client_that_is_kept_alive_gets_its_answer_too(tmp_path: Path, surface: str) -> None:
    limits = {"keep_alive_seconds": 0.03}
    async with before(tmp_path, in_turn(late(BAD), late(GOOD)), [gains()], limits=limits) as (sdks, up):
        body = await sdks.running.ask(PATHS[surface], {"model": "m", "stream": True, **ASKED[surface]})
        assert b"keep-alive" in body or b"event: ping" in body
        up.script = in_turn(late(BAD), late(GOOD))
        told = await sdks.ask(surface, True)
        assert (told.text, told.finish) == (RIGHT, ENDED[surface])


async def test_of_a_client_that_was_kept_alive_and_left_nothing_is_left(tmp_path: Path) -> None:
    slow = streams([delta("word "), *([delta("more ")] * 200)], pause=0.02)
    limits = {"keep_alive_seconds": 0.03}
    async with before(tmp_path, in_turn(late(BAD), slow), [gains()], limits=limits) as (sdks, up):
        async with await sdks.running.chat(stream=True) as response:
            got = b""
            while b"more" not in got:
                got += await response.content.readany()
            response.close()
        await asyncio.wait_for(up.calls[-1].closed.wait(), 2)
        await quiet(sdks.running)


# Read once more.

FIRST = chat_stream("Well, ", "it is guaranteed ", "to work.")
THEN = chat_stream(*(f" {ANSWER}"[at : at + 9] for at in range(0, len(ANSWER) + 1, 9)))


@streamed
@pytest.mark.parametrize("delivery", ["live", "hold"])
async def test_an_answer_that_was_cut_back_is_read_once_more_as_the_client_reads_it(
    tmp_path: Path, delivery: str, stream: bool
) -> None:
    rule = gains(anchors=[{"type": "sentence"}, {"type": "word"}])
    script = both(in_turn(streams(FIRST), streams(THEN)), reads(RATE))
    async with refining(tmp_path, script, [rule], delivery=delivery, marks="clean") as (running, readings):
        headers = {"x-retrace-explain": "1"}
        async with await running.chat(headers=headers, stream=stream) as response:
            body = await response.read()
        (reading,) = readings()
        await quiet(running)
    told = payloads(body)[:-1] if stream else [orjson.loads(body)]
    text = said(body) if stream else told[0]["choices"][0]["message"]["content"]
    whole = f"Well, it is {ANSWER}"
    fixed = whole.replace(RATE["quote"], RATE["fixed"])
    assert text.startswith(whole) if delivery == "live" else text.startswith(fixed)
    assert RATE["fixed"] in text
    assert whole.encode() in reading.body
    assert b"guaranteed" not in reading.body + body
    notes = [choice["retrace"] for data in told for choice in data["choices"] if "retrace" in choice]
    (note,) = notes
    assert note["refined"]["outcome"] == "corrected"
    assert [attempt["rule"] for attempt in note["attempts"]] == ["output.regex"]


@pytest.mark.parametrize("delivery", ["live", "hold"])
async def test_a_rule_whose_budget_is_spent_may_have_the_answer_read(tmp_path: Path, delivery: str) -> None:
    again = chat_stream(" guaranteed. ", ANSWER)
    rule = gains(budget=1, **{"else": "refine"})
    script = both(in_turn(streams(FIRST), streams(again)), reads(RATE))
    async with refining(tmp_path, script, [rule], delivery=delivery, tiers=[]) as (running, readings):
        body = await (await running.chat(stream=True)).read()
        assert len(readings()) == 1
    assert RATE["fixed"] in said(body)
    assert said(body).startswith("Well, it is guaranteed. ")
