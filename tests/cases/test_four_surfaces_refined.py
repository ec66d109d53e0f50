"""An answer that is read once more, as clients of the translated surfaces see it: held and live, corrected or not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.answering import says
from tests.dialects import ENDED, FILTERED, FOREIGN, SURFACES, Clients, clients, refused
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
)
from tests.rig import Script, Seen, quiet, regex, streams

surfaces = pytest.mark.parametrize("surface", SURFACES)
foreign = pytest.mark.parametrize("surface", FOREIGN)
streamed = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
delivered = pytest.mark.parametrize("delivery", ["live", "hold"])
EXPLAIN = {"x-retrace-explain": "1"}
RIGHT = ANSWER.replace("4.75", "5.75")


@asynccontextmanager
async def read_again(
    folder: Path, answer: Script, reading: Script, rules: list[dict[str, Any]] | None = None, **file: Any
) -> AsyncIterator[tuple[Clients, Callable[[], list[Seen]]]]:
    """Both SDKs before a gateway that has answers read once more; and what it asked for that."""
    async with (
        refining(folder, both(answer, reading), rules, **file) as (running, readings),
        clients(running) as sdks,
    ):
        yield sdks, readings
        await quiet(running)


@streamed
@surfaces
async def test_held_the_right_words_stand_in_the_place_of_the_wrong(tmp_path: Path, surface: str, stream: bool) -> None:
    file: dict[str, Any] = {"delivery": "hold", "marks": "clean"}
    async with read_again(tmp_path, says(ANSWER[:20], ANSWER[20:]), reads(RATE), **file) as (sdks, readings):
        told = await sdks.ask(surface, stream, "What is the rate?")
        assert (told.text, told.finish) == (RIGHT, ENDED[surface])
        assert sdks.head["x-retrace-delivery"] == "hold"
        assert stream or sdks.head["x-retrace-refined"] == "corrected"
        (reading,) = readings()
        assert "What is the rate?" in reading.body.decode()
        assert reading.path == ("/v1/completions" if surface == "completions" else "/v1/chat/completions")


@streamed
@surfaces
@pytest.mark.parametrize(("answer", "rate"), [(ANSWER, RATE), (ZH_ANSWER, ZH_RATE)], ids=["en", "zh"])
async def test_live_an_erratum_follows_what_has_left(
    tmp_path: Path, surface: str, stream: bool, answer: str, rate: dict[str, str]
) -> None:
    async with read_again(tmp_path, says(answer[:9], answer[9:]), reads(rate)) as (sdks, _):
        told = await sdks.ask(surface, stream, extra_headers=EXPLAIN)
    assert told.text.startswith(f"{answer}\n\n")
    assert all(part in told.text[len(answer) :] for part in rate.values())
    assert told.finish == ENDED[surface]
    assert told.note["refined"]["outcome"] == "corrected"
    assert told.note["refined"]["corrections"] == [rate]


@streamed
@delivered
@surfaces
@pytest.mark.parametrize(("reading", "why"), [(broken(), "failed"), (hangs(), "slow")])
async def test_without_its_reading_an_answer_goes_out_tagged(
    tmp_path: Path, surface: str, delivery: str, stream: bool, reading: Script, why: str
) -> None:
    file: dict[str, Any] = {"delivery": delivery, "guards": {"seconds": 0.2}}
    async with read_again(tmp_path, says(ANSWER), reading, **file) as (sdks, _):
        told = await sdks.ask(surface, stream)
        assert "[needs human review]" in told.text
        assert told.finish == ENDED[surface]
        assert stream or sdks.head["x-retrace-degraded"] == f"refine; {why}"
        metrics = await sdks.running.metrics()
    assert metrics[f'retrace_refined_total{{outcome="degraded",why="{why}"}}'] == 1


@streamed
@foreign
async def test_where_a_header_says_it_a_stream_says_it_to_programs(tmp_path: Path, surface: str, stream: bool) -> None:
    file: dict[str, Any] = {"delivery": "hold", "degraded": {"placement": "header"}}
    async with read_again(tmp_path, says(ANSWER), broken(), **file) as (sdks, _):
        told = await sdks.ask(surface, stream)
        assert told.text == ANSWER
        if stream:
            assert told.note["refined"]["outcome"] == "degraded"
        else:
            assert sdks.head["x-retrace-degraded"] == "refine; failed"


@streamed
@delivered
@surfaces
async def test_C61_the_bill_has_what_the_file_puts_on_it(
    tmp_path: Path, surface: str, delivery: str, stream: bool
) -> None:
    for bill, used in ((False, (7, 5)), (True, (77, 14))):
        folder = tmp_path / str(bill)
        folder.mkdir()
        async with read_again(folder, says(ANSWER), reads(RATE), delivery=delivery, bill=bill) as (sdks, _):
            told = await sdks.ask(surface, stream)
            metrics = await sdks.running.metrics()
        assert told.used == used
        assert metrics['retrace_refine_tokens_total{kind="prompt",tenant="default"}'] == 70
        assert metrics['retrace_tokens_total{kind="prompt",tenant="default"}'] == 7


@delivered
@surfaces
async def test_C41_a_blocked_answer_is_never_read_again(tmp_path: Path, surface: str, delivery: str) -> None:
    rules = [regex("Interest")]
    async with read_again(tmp_path, says(ANSWER), reads(RATE), rules, delivery=delivery) as (sdks, readings):
        told = await sdks.ask(surface, True)
        assert (told.text, told.finish) == (ANSWER.partition("Interest")[0], FILTERED[surface])
        assert readings() == []


@streamed
@surfaces
async def test_C41_nothing_is_read_more_than_once(tmp_path: Path, surface: str, stream: bool) -> None:
    rules = [regex("deposit", action="refine")]
    async with read_again(tmp_path, says(ANSWER), reads(RATE), rules, tiers=[NEVER], delivery="hold") as (sdks, r):
        assert "5.75" in (await sdks.ask(surface, stream)).text
        assert len(r()) == 1


@delivered
@surfaces
async def test_C49_the_client_is_kept_until_the_second_reading_is_done(
    tmp_path: Path, surface: str, delivery: str
) -> None:
    file: dict[str, Any] = {"delivery": delivery, "keep_alive_seconds": 0.03}
    async with read_again(tmp_path, says(ANSWER), after(0.15, reads(RATE)), **file) as (sdks, _):
        told = await sdks.ask(surface, True)
    assert "5.75 percent" in told.text
    assert told.finish == ENDED[surface]


@delivered
@surfaces
async def test_C60_an_answer_that_breaks_off_is_an_error_that_is_booked_and_not_read_again(
    tmp_path: Path, surface: str, delivery: str
) -> None:
    async def dies(seen: Seen, writer: asyncio.StreamWriter) -> None:
        choice: dict[str, Any] = {"index": 0, "finish_reason": None}
        said: dict[str, Any] = {"delta": {"content": ANSWER}} if "chat" in seen.path else {"text": ANSWER}
        counts = {"prompt_tokens": 7, "completion_tokens": 50, "total_tokens": 57}
        event = orjson.dumps({"id": "c", "model": "m", "choices": [{**choice, **said}], "usage": counts})
        await streams([b"data: " + event + b"\n\n"])(seen, writer)

    async with read_again(tmp_path, dies, reads(RATE), delivery=delivery) as (sdks, readings):
        with refused() as told:
            await sdks.ask(surface, True)
        assert "before its answer was complete" in told[0].message
        metrics = await sdks.running.metrics()
        assert metrics['retrace_tokens_total{kind="completion",tenant="default"}'] == 50
        assert readings() == []


@foreign
async def test_C44_a_client_that_leaves_ends_the_reading(tmp_path: Path, surface: str) -> None:
    file: dict[str, Any] = {"delivery": "hold", "guards": {"seconds": 30}}
    async with read_again(tmp_path, says(ANSWER), hangs(), **file) as (sdks, readings):
        asking = asyncio.ensure_future(sdks.ask(surface, True))
        async with asyncio.timeout(2):
            while not readings():  # noqa: ASYNC110 - what is waited for tells nobody
                await asyncio.sleep(0.005)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        await asyncio.wait_for(readings()[0].closed.wait(), 1)


@foreign
async def test_an_answer_that_calls_a_tool_is_left_alone(tmp_path: Path, surface: str) -> None:
    answer = says(ANSWER, calls=[("c1", "f", '{"a":1}')], finish="tool_calls")
    async with read_again(tmp_path, answer, reads(RATE), delivery="hold") as (sdks, readings):
        told = await sdks.ask(surface, True)
        assert (told.text, told.calls) == (ANSWER, (("c1", "f", {"a": 1}),))
        assert readings() == []


@foreign
async def test_thoughts_are_told_and_only_the_answer_is_corrected(tmp_path: Path, surface: str) -> None:
    answer = says(ANSWER, thinks="是 4.75 percent 吗？")
    file: dict[str, Any] = {"delivery": "hold", "marks": "clean"}
    async with read_again(tmp_path, answer, reads(RATE), **file) as (sdks, _):
        told = await sdks.ask(surface, True)
    assert (told.thought, told.text) == ("是 4.75 percent 吗？", RIGHT)
