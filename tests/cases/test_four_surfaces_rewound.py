"""An answer that breaks a rule is cut back and goes on: on all surfaces the client sees one clean answer."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.answering import in_turn, says
from tests.dialects import ENDED, FILTERED, SURFACES, TALKING, before, refused
from tests.rig import Seen, answers, chunk, http, raw_answer, regex, stream_head

surfaces = pytest.mark.parametrize("surface", SURFACES)
talking = pytest.mark.parametrize("surface", TALKING)
streamed = pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
BAD = says("这款", "产品", "保证", "稳赚", "不赔。", used=(7, 5))
GOOD = says("收益", "随市场", "而变。", used=(10, 3))
RIGHT = "这款产品保证收益随市场而变。"


def gains(**rewind: Any) -> dict[str, Any]:
    return regex("稳赚", action="rewind", **({"rewind": rewind} if rewind else {}))


def goes_on(seen: Seen) -> str:
    """What a call goes on from."""
    return str(seen.json["prompt"] if "prompt" in seen.json else seen.json["messages"][-1]["content"])


@streamed
@surfaces
async def test_the_client_sees_one_clean_answer(tmp_path: Path, surface: str, stream: bool) -> None:
    async with before(tmp_path, in_turn(BAD, GOOD), [gains()]) as (sdks, up):
        told = await sdks.ask(surface, stream, "说说")
        assert (told.text, told.finish) == (RIGHT, ENDED[surface])
        assert stream or sdks.head["x-retrace-verdict"] == "rewind"
        first, second = up.calls
        assert first.path == second.path
        assert goes_on(second).endswith("这款产品保证")
        assert second.json["bad_words"] == ["稳赚"]
        metrics = await sdks.running.metrics()
    assert metrics[f'retrace_exchanges_total{{surface="{surface}",verdict="rewind"}}'] == 1


@streamed
@surfaces
async def test_C60_C61_usage_is_true_of_all_attempts(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, surface: str, stream: bool
) -> None:
    caplog.set_level(logging.DEBUG, "gateway.ledger")
    async with before(tmp_path, in_turn(BAD, GOOD), [gains()]) as (sdks, _):
        told = await sdks.ask(surface, stream)
        assert told.used == (7, 6)  # the prompt once; three tokens that were kept, and three that came after
        assert told.spent["attempts"] == 2
        assert told.spent["wasted_tokens"] >= 1  # as many as had come
    (record,) = [orjson.loads(one.message) for one in caplog.records if one.name == "gateway.ledger"]
    assert record["surface"] == surface


@streamed
@surfaces
async def test_C41_the_third_draft_is_told_if_two_were_rejected(tmp_path: Path, surface: str, stream: bool) -> None:
    again = says("一定", "稳赚", used=(10, 2))
    async with before(tmp_path, in_turn(BAD, again, GOOD), [gains(budget=3)]) as (sdks, up):
        told = await sdks.ask(surface, stream)
        assert (told.text, told.finish) == ("这款产品保证一定收益随市场而变。", ENDED[surface])
        assert len(up.calls) == 3


@pytest.mark.parametrize("together", [True, False])
@streamed
@surfaces
async def test_C16_a_draft_that_is_found_wrong_at_its_end_has_none(
    tmp_path: Path, surface: str, stream: bool, together: bool
) -> None:
    """Its last word, its end and its usage are there before it is known; none of them is told."""
    first = says("这款", "产品", "保证", "稳赚", used=(7, 4), together=together)
    async with before(tmp_path, in_turn(first, GOOD), [gains()]) as (sdks, _):
        told = await sdks.ask(surface, stream)
        assert (told.text, told.finish, told.used) == (RIGHT, ENDED[surface], (7, 6))


@streamed
@surfaces
async def test_C41_once_the_budget_is_spent_it_ends(tmp_path: Path, surface: str, stream: bool) -> None:
    again = says("稳赚", used=(10, 1))
    async with before(tmp_path, in_turn(BAD, again), [gains(budget=2)]) as (sdks, up):
        told = await sdks.ask(surface, stream)
        assert (told.text, told.finish) == ("这款产品保证", FILTERED[surface])
        assert len(up.calls) == 3


@surfaces
async def test_an_endpoint_that_can_t_continue_is_told_to(tmp_path: Path, surface: str) -> None:
    """Of completions every endpoint can continue the text; that one only refuses the ban."""

    async def script(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.json.get("continue_final_message") or "bad_words" in seen.json:
            writer.write(http(b'{"error":{"message":"extra fields: continue_final_message, bad_words"}}', 400))
        else:
            await turns(seen, writer)

    turns = in_turn(BAD, GOOD)
    async with before(tmp_path, script, [gains()]) as (sdks, up):
        assert (await sdks.ask(surface, True)).text == RIGHT
        assert "bad_words" not in up.calls[-1].json
        assert len(up.calls) == 3


@surfaces
@pytest.mark.parametrize("how", ["refuses", "dies"])
async def test_C60_an_answer_that_can_t_go_on_is_an_error(tmp_path: Path, surface: str, how: str) -> None:
    ends = answers(b'{"error":{"message":"busy"}}', 503) if how == "refuses" else raw_answer(stream_head(), chunk(b""))
    async with before(tmp_path, in_turn(BAD, ends), [gains()], backend={"retries": 0}) as (sdks, up):
        with refused() as told:
            await sdks.ask(surface, True)
        assert told[0].code == "upstream_error"
        up.script = in_turn(BAD, ends)
        with refused() as told:
            await sdks.ask(surface, False)
        assert told[0].status == 502


@talking
async def test_what_the_answer_went_on_with_may_be_a_call(tmp_path: Path, surface: str) -> None:
    more = says("查一下。", calls=[("c1", "rate", '{"of": "基金"}')], finish="tool_calls", used=(10, 9))
    async with before(tmp_path, in_turn(BAD, more), [gains()]) as (sdks, _):
        told = await sdks.ask(surface, True)
    assert told.text == "这款产品保证查一下。"
    assert told.calls == (("c1", "rate", {"of": "基金"}),)


@talking
async def test_thoughts_before_it_stay(tmp_path: Path, surface: str) -> None:
    first = says("这款", "产品", "保证", "稳赚", thinks="他问基金", used=(7, 9))
    async with before(tmp_path, in_turn(first, GOOD), [gains()]) as (sdks, _):
        told = await sdks.ask(surface, True)
    assert (told.thought, told.text, told.finish) == ("他问基金", RIGHT, ENDED[surface])
