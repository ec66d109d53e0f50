"""An answer under review, as its client sees it: live and held, streamed and whole, corrected and left alone."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.refine.rigs import (
    ANSWER,
    NEVER,
    RATE,
    ZH_ANSWER,
    ZH_RATE,
    after,
    both,
    broken,
    hangs,
    reads,
    refining,
    says,
)
from tests.rig import Running, delta, payloads, quiet, regex, said, streams, usage_event

DELIVERIES = ("live", "hold")
RIGHT = ANSWER.replace("4.75", "5.75")


def spoken(body: bytes) -> bytes:
    """A stream without its comments."""
    return body.replace(b": keep-alive\n", b"")


async def text_of(running: Running, stream: bool, **fields: Any) -> tuple[str, dict[str, str], bytes]:
    """The answer as a client reads it, its headers, and its raw body."""
    async with await running.chat(stream=stream, **fields) as response:
        body = await response.read()
    assert response.status == 200, body
    whole = said(spoken(body)) if stream else orjson.loads(body)["choices"][0]["message"]["content"]
    return whole, {name.lower(): value for name, value in response.headers.items()}, body


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("delivery", DELIVERIES)
async def test_an_answer_that_needs_nothing_is_the_bytes_that_came(tmp_path: Path, delivery: str, stream: bool) -> None:
    async with refining(tmp_path, says(ANSWER, stream), tiers=[NEVER], delivery=delivery) as (running, readings):
        whole, headers, body = await text_of(running, stream)
    assert whole == ANSWER
    assert headers["x-retrace-delivery"] == delivery
    assert "x-retrace-refined" not in headers
    assert readings() == []
    if stream:
        assert payloads(body)[-1] == "[DONE]"


@pytest.mark.parametrize("stream", [False, True])
async def test_held_the_correction_stands_in_its_place(tmp_path: Path, stream: bool) -> None:
    script = both(says(ANSWER, stream), reads(RATE))
    async with refining(tmp_path, script, delivery="hold") as (running, readings):
        whole, headers, body = await text_of(running, stream)
    assert whole.startswith("The annual rate of this deposit is [corrected]5.75 percent. Interest")
    assert "the offer of June" in whole
    assert len(readings()) == 1
    if stream:
        assert [d["choices"][0]["finish_reason"] for d in payloads(body)[:-1] if d["choices"]][-1] == "stop"
        assert payloads(body)[-1] == "[DONE]"
    else:
        assert headers["x-retrace-refined"] == "corrected"


@pytest.mark.parametrize("stream", [False, True])
async def test_clean_nothing_shows_where_it_was(tmp_path: Path, stream: bool) -> None:
    script = both(says(ANSWER, stream), reads(RATE))
    async with refining(tmp_path, script, delivery="hold", marks="clean") as (running, _):
        assert (await text_of(running, stream))[0] == RIGHT


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("answer", "rate"), [(ANSWER, RATE), (ZH_ANSWER, ZH_RATE)])
async def test_live_an_erratum_follows_what_has_left(
    tmp_path: Path, answer: str, rate: dict[str, str], stream: bool
) -> None:
    async with refining(tmp_path, both(says(answer, stream), reads(rate))) as (running, _):
        whole, headers, body = await text_of(running, stream)
    assert whole.startswith(answer + "\n\n")
    assert all(part in whole[len(answer) :] for part in rate.values())
    assert headers["x-retrace-delivery"] == "live"
    if stream:  # it comes in the event that ends the choice, so no client has stopped listening
        assert payloads(body)[-1] == "[DONE]"
        ends = [data for data in payloads(body)[:-1] if data["choices"] and data["choices"][0]["finish_reason"]]
        assert len(ends) == 1
        assert rate["fixed"] in ends[0]["choices"][0]["delta"]["content"]


async def test_live_the_text_does_not_wait_for_the_reading(tmp_path: Path) -> None:
    script = both(says(ANSWER, True), hangs())
    async with (
        refining(tmp_path, script, guards={"seconds": 5}) as (running, readings),
        await running.chat(stream=True) as response,
    ):
        got = b""
        while said(got) != ANSWER:
            got += await response.content.readany()
        async with asyncio.timeout(2):
            while not readings():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert b'"stop"' not in got


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("delivery", DELIVERIES)
@pytest.mark.parametrize(("reading", "why"), [(broken(), "failed"), (hangs(), "slow"), (broken(404), "failed")])
async def test_without_its_reading_an_answer_goes_out_tagged(
    tmp_path: Path, reading: Any, why: str, delivery: str, stream: bool
) -> None:
    script = both(says(ANSWER, stream), reading)
    async with refining(tmp_path, script, delivery=delivery, guards={"seconds": 0.3}) as (running, _):
        whole, headers, _ = await text_of(running, stream)
        told = await running.metrics()
        await quiet(running)
    assert "[needs human review]" in whole
    assert whole.replace(" [needs human review]", "") == ANSWER or whole.startswith(ANSWER)
    if not stream:
        assert headers["x-retrace-degraded"] == f"refine; {why}"
    assert told[f'retrace_refined_total{{outcome="degraded",why="{why}"}}'] == 1


async def test_a_chinese_answer_is_tagged_in_chinese(tmp_path: Path) -> None:
    async with refining(tmp_path, both(says(ZH_ANSWER, True), broken()), delivery="hold") as (running, _):
        assert "[需人工复核]" in (await text_of(running, True))[0]


@pytest.mark.parametrize("stream", [False, True])
async def test_a_header_can_say_it_alone(tmp_path: Path, stream: bool) -> None:
    script = both(says(ANSWER, stream), broken())
    async with refining(tmp_path, script, delivery="hold", degraded={"placement": "header"}) as (running, _):
        whole, headers, body = await text_of(running, stream)
    assert whole == ANSWER
    if stream:  # its headers have left long before: the event that ends the choice says it to programs
        (note,) = [c["retrace"] for d in payloads(body)[:-1] for c in d["choices"] if "retrace" in c]
        assert note["refined"]["outcome"] == "degraded"
    else:
        assert headers["x-retrace-degraded"] == "refine; failed"


@pytest.mark.parametrize("delivery", DELIVERIES)
async def test_while_a_stream_is_held_it_says_that_it_lives(tmp_path: Path, delivery: str) -> None:
    script = both(says(ANSWER, True), after(0.2, reads(RATE)))
    async with refining(tmp_path, script, delivery=delivery, keep_alive_seconds=0.05) as (running, _):
        whole, _, body = await text_of(running, True)
    assert body.count(b": keep-alive\n") >= 2
    assert "5.75 percent" in whole


async def test_while_an_answer_is_made_that_is_held_it_says_so_too(tmp_path: Path) -> None:
    script = streams([delta("A word. "), delta("Another. "), delta("The last."), delta(finish="stop")], pause=0.04)
    async with (
        refining(tmp_path, script, delivery="hold", tiers=[], keep_alive_seconds=0.03) as (running, _),
        await running.chat(stream=True) as response,
    ):
        first = await response.content.readany()
        rest = await response.read()
    assert first == b": keep-alive\n"
    assert said(spoken(first + rest)) == "A word. Another. The last."


@pytest.mark.parametrize("delivery", DELIVERIES)
async def test_what_a_rule_blocks_is_not_refined(tmp_path: Path, delivery: str) -> None:
    script = both(says(ANSWER, True), reads(RATE))
    async with refining(tmp_path, script, [regex("Interest")], delivery=delivery) as (running, readings):
        whole, _, body = await text_of(running, True)
    assert "Interest" not in whole
    assert b"content_filter" in body
    assert readings() == []


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("delivery", DELIVERIES)
async def test_a_correction_that_a_rule_would_block_is_none(tmp_path: Path, delivery: str, stream: bool) -> None:
    script = both(says(ANSWER, stream), reads({**RATE, "fixed": "a secret rate"}))
    async with refining(tmp_path, script, [regex("secret")], delivery=delivery) as (running, _):
        assert (await text_of(running, stream))[0] == ANSWER
        told = await running.metrics()
    assert told['retrace_refined_total{outcome="kept",why="blocked"}'] == 1


async def test_what_a_rule_masks_stays_masked(tmp_path: Path) -> None:
    script = both(says(ANSWER, True), reads(RATE))
    async with refining(tmp_path, script, [regex("March", action="mask")], delivery="hold") as (running, readings):
        whole = (await text_of(running, True))[0]
    assert "every ***." in whole
    assert "March" not in readings()[0].body.decode()


async def test_a_rule_can_ask_for_a_reading(tmp_path: Path) -> None:
    script = both(says(ANSWER, True), reads(RATE))
    rule = regex("rate", action="refine")
    async with refining(tmp_path, script, [rule], tiers=[NEVER], delivery="hold") as (running, readings):
        assert "5.75" in (await text_of(running, True))[0]
    assert len(readings()) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"response_format": {"type": "json_object"}},
        {"guided_json": {"type": "object"}},
    ],
)
async def test_words_are_never_put_to_what_a_program_reads(tmp_path: Path, fields: dict[str, Any]) -> None:
    async with (
        refining(tmp_path, both(says(ANSWER, False), broken())) as (running, readings),
        await running.chat(**fields) as response,
    ):
        body = orjson.loads(await response.read())
    assert body["choices"][0]["message"]["content"] == ANSWER
    assert len(readings()) <= 1


async def test_an_answer_that_calls_a_tool_is_left_alone(tmp_path: Path) -> None:
    call = [{"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    script = streams([delta(ANSWER), delta(tool_calls=call), delta(finish="tool_calls"), usage_event()])
    async with refining(tmp_path, both(script, reads(RATE))) as (running, readings):
        assert (await text_of(running, True))[0] == ANSWER
    assert readings() == []


async def test_each_choice_is_refined_by_itself(tmp_path: Path) -> None:
    other = ANSWER.replace("4.75", "5.75")
    events = [delta(ANSWER, 0), delta(other, 1), delta(finish="stop", index=1), delta(finish="stop", index=0)]
    async with (
        refining(tmp_path, both(streams(events), reads(RATE)), delivery="hold", marks="clean") as (running, r),
        await running.chat(stream=True, n=2) as response,
    ):
        body = await response.read()
    assert said(body, 0) == RIGHT
    assert said(body, 1) == other
    assert len(r()) == 2


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("bill", "prompt"), [(False, 7), (True, 77)])
async def test_what_a_reading_costs_is_no_part_of_the_client_s_bill(
    tmp_path: Path, bill: bool, prompt: int, stream: bool
) -> None:
    script = both(says(ANSWER, stream), reads(RATE))
    async with refining(tmp_path, script, bill=bill) as (running, _):
        asked = {"stream_options": {"include_usage": True}} if stream else {}
        _, _, body = await text_of(running, stream, **asked)
        told = await running.metrics()
    usages = [d["usage"] for d in (payloads(body)[:-1] if stream else [orjson.loads(body)]) if d.get("usage")]
    assert [usage["prompt_tokens"] for usage in usages] == [prompt]
    assert told['retrace_refine_tokens_total{kind="prompt",tenant="default"}'] == 70
    assert told['retrace_tokens_total{kind="prompt",tenant="default"}'] == 7


@pytest.mark.parametrize("stream", [False, True])
async def test_programs_that_ask_are_told_what_was_corrected(tmp_path: Path, stream: bool) -> None:
    async with (
        refining(tmp_path, both(says(ANSWER, stream), reads(RATE))) as (running, _),
        await running.chat(stream=stream, headers={"x-retrace-explain": "1"}) as response,
    ):
        body = await response.read()
    datas = payloads(body)[:-1] if stream else [orjson.loads(body)]
    (note,) = [c["retrace"]["refined"] for d in datas for c in d["choices"] if "retrace" in c]
    assert note["outcome"] == "corrected"
    assert note["corrections"] == [RATE]


async def test_a_client_that_leaves_ends_the_reading(tmp_path: Path) -> None:
    async with (
        refining(tmp_path, both(says(ANSWER, True), hangs()), guards={"seconds": 30}) as (running, readings),
        await running.chat(stream=True) as response,
    ):
        await response.content.readany()
        async with asyncio.timeout(2):
            while not readings():  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            response.close()
        await asyncio.wait_for(readings()[0].closed.wait(), 2)
        await quiet(running)


@pytest.mark.parametrize("delivery", DELIVERIES)
async def test_an_upstream_that_breaks_off_is_an_error_and_no_answer_to_refine(tmp_path: Path, delivery: str) -> None:
    script = both(streams([delta(ANSWER)]), reads(RATE))
    async with (
        refining(tmp_path, script, delivery=delivery) as (running, readings),
        await running.chat(stream=True) as response,
    ):
        body = await response.read()
    assert b'"error"' in body
    assert b"[DONE]" not in body
    assert readings() == []


async def test_completions_are_refined_like_chats(tmp_path: Path) -> None:
    from tests.rig import text_stream

    async with refining(tmp_path, both(streams(text_stream(ANSWER)), reads(RATE)), delivery="hold") as (running, r):
        asked = {"model": "m", "prompt": "What is the rate?", "stream": True}
        async with running.http.post(f"{running.url}/v1/completions", json=asked) as response:
            body = await response.read()
    text = "".join(d["choices"][0]["text"] for d in payloads(body)[:-1] if d["choices"])
    assert text.startswith("The annual rate of this deposit is [corrected]5.75 percent.")
    assert r()[0].json["prompt"].startswith("What is the rate?" + ANSWER)
