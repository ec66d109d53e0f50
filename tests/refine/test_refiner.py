"""Which answers are read once more, what they come to, and what holds when the second reading does not.

The limits of readings stand in test_limits.py, what is remembered of them in test_known.py.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from tests.refine.rigs import (
    ALWAYS,
    ANSWER,
    NEVER,
    RATE,
    ZH_ANSWER,
    ZH_RATE,
    both,
    broken,
    hangs,
    reads,
    refining,
    says,
)
from tests.refine.talk import CACHE, ask, counted, turns, waits
from tests.rig import (
    Running,
    Seen,
    answers,
    completion,
    post,
    quiet,
    serving,
    until,
    upstream,
    wire,
    write_config,
)

VAGUE = {"type": "business", "cases": [{"decision": "pass", "why": "vague", "risk": 0.5}]}
GONE = {"type": "classifier", "model": "nowhere"}  # a tier that can't judge
CALM = "All of this is well known, and nothing needs to be done about it at all today."
ZH_CALM = "这些事情大家都很清楚，今天不需要再为此做任何事情，请您放心。" * 2
TALKS = [(ANSWER, RATE), (ZH_ANSWER, ZH_RATE)]
PLENTY = {"guards": {"seconds": 5}}


def rewrite(folder: Path, **file: Any) -> None:
    told = {"tiers": [ALWAYS], "cache": None, **file}
    (folder / "refine.yaml").write_text(yaml.safe_dump(told, allow_unicode=True), encoding="utf-8")


async def reload(running: Running) -> None:
    await running.server.steward.reload(running.server._apply)


# What an answer may come to.


@pytest.mark.parametrize(("answer", "rate"), TALKS)
async def test_an_answer_comes_to_one_of_five_ends(tmp_path: Path, answer: str, rate: dict[str, str]) -> None:
    far = {**rate, "quote": "这句话不在回答里 nor is this"}
    script = both(says(answer, False), turns(reads(), reads(rate), reads(far), broken()))
    async with refining(tmp_path, script) as (running, readings):
        told = [await ask(running) for _ in range(4)]
        await running.server.steward.reload(running.server._apply)
        rewrite(tmp_path, tiers=[NEVER])
        await reload(running)
        told.append(await ask(running))
        assert [one.outcome for one in told] == ["fine", "corrected", "kept", "degraded", ""]
        assert await counted(running, "fine", "business:always") == 1
        assert await counted(running, "corrected", "business:always") == 1
        assert await counted(running, "kept", "no_edit") == 1
        assert await counted(running, "degraded", "failed") == 1
        assert await counted(running, "untouched", "business:never") == 1
    assert [one.text == answer for one in told] == [True, False, True, False, True]
    assert len(readings()) == 4


@pytest.mark.parametrize(("answer", "why"), [("Yes.", "short"), ("是的。", "short")])
async def test_some_are_not_even_asked_about(tmp_path: Path, answer: str, why: str) -> None:
    async with refining(tmp_path, both(says(answer, False), reads())) as (running, readings):
        assert (await ask(running)).text == answer
        assert await counted(running, "untouched", why) == 1
        assert not any("retrace_tier_decisions_total{" in name for name in await running.metrics())
    assert readings() == []


async def test_a_reply_that_is_in_no_form_is_none(tmp_path: Path) -> None:
    script = both(says(ANSWER, False), answers(completion("Well, I think that all of it is quite right.")))
    async with refining(tmp_path, script) as (running, _):
        told = await ask(running)
        assert told.headers["x-retrace-degraded"] == "refine; unreadable"
        assert (await running.metrics())['retrace_refine_tokens_total{kind="prompt",tenant="default"}'] == 7


# Who says that it is to be read.


async def test_the_first_tier_that_decides_is_heard(tmp_path: Path) -> None:
    async with refining(tmp_path, both(says(ANSWER, False), reads()), tiers=[VAGUE, NEVER, ALWAYS]) as (running, r):
        await ask(running)
        told = await running.metrics()
    assert r() == []
    assert told['retrace_tier_decisions_total{decision="pass",tier="business"}'] == 1
    assert told['retrace_tier_decisions_total{decision="skip",tier="business"}'] == 1
    assert 'retrace_tier_decisions_total{decision="force",tier="business"}' not in told


async def test_for_whom_it_is_read_may_depend_on_what_it_is_about(tmp_path: Path) -> None:
    tier = {"type": "business", "cases": [{"domain": ["finance"], "decision": "force", "why": "money"}]}
    domains = {"words": {"finance": {"zh": ["年利率"], "en": ["deposit"]}}}
    script = both(turns(says(ANSWER, False), says(ZH_ANSWER, False), says(CALM, False)), reads())
    async with refining(tmp_path, script, tiers=[tier], domains=domains) as (running, readings):
        assert [(await ask(running, "?")).outcome for _ in range(3)] == ["fine", "fine", ""]
    english, chinese = (seen.json["messages"][-1]["content"] for seen in readings())
    assert "strict finance fact checker" in english
    assert "金融" in chinese


TAGGED = [(ANSWER, "[needs human review]"), (ZH_ANSWER, "[需人工复核]"), (CALM, ""), (ZH_CALM, "")]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(("answer", "tag"), TAGGED)
async def test_if_no_tier_can_judge_only_what_can_be_verified_is_tagged(
    tmp_path: Path, answer: str, tag: str, stream: bool
) -> None:
    script = both(says(answer, stream), reads())
    async with refining(tmp_path, script, tiers=[GONE], delivery="hold") as (running, readings):
        told = await ask(running, stream=stream)
        assert await counted(running, "degraded" if tag else "untouched", "classifier_broken") == 1
    assert readings() == []
    if tag:
        assert tag in told.text
    else:
        assert told.text == answer


async def test_the_next_tier_judges_for_one_that_cannot(tmp_path: Path) -> None:
    async with refining(tmp_path, both(says(ANSWER, False), reads(RATE)), tiers=[GONE, ALWAYS]) as (running, _):
        assert (await ask(running)).outcome == "corrected"
        assert (await running.metrics())['retrace_tier_decisions_total{decision="broken",tier="classifier"}'] == 1


async def test_a_route_can_be_left_alone(tmp_path: Path) -> None:
    routes = [{"when": {"model": ["plain-*"]}, "refine": False, "delivery": "hold"}]
    async with refining(tmp_path, both(says(ANSWER, False), reads(RATE)), routes=routes) as (running, readings):
        told = await ask(running, model="plain-1")
        assert (told.text, told.headers["x-retrace-delivery"]) == (ANSWER, "hold")
        assert readings() == []
        assert (await ask(running)).outcome == "corrected"


# Never twice.


@pytest.mark.parametrize(
    "answer", [f"[corrected] {ANSWER} [corrected]", f"【修正】{ZH_ANSWER}【修正】", f"【修正】好。{ANSWER} [corrected]"]
)
@pytest.mark.parametrize("stream", [False, True])
async def test_an_answer_that_is_marked_already_is_not_read(tmp_path: Path, answer: str, stream: bool) -> None:
    async with refining(tmp_path, both(says(answer, stream), reads()), delivery="hold") as (running, readings):
        assert (await ask(running, stream=stream)).text == answer
        assert await counted(running, "untouched", "marked") == 1
    assert readings() == []


@pytest.mark.parametrize("delivery", ["live", "hold"])
async def test_a_corrected_answer_in_the_conversation_is_no_answer(tmp_path: Path, delivery: str) -> None:
    """It is sent back as what was said; the new answer is read, the old one is not."""
    next_one = ANSWER.replace("March", "May")
    answer, reading = turns(says(ANSWER, False), says(next_one, False)), turns(reads(RATE), reads())
    asked: list[Seen] = []

    async def script(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if "response_format" in seen.json:
            asked.append(seen)
        await (reading if "response_format" in seen.json else answer)(seen, writer)

    async with refining(tmp_path, script, delivery=delivery) as (running, _):
        first = await ask(running)
        back = {"role": "assistant", "content": first.text}
        second = await ask(running, "What is the rate?", back, "And when is it paid?")
    assert (first.outcome, second.outcome) == ("corrected", "fine")
    assert second.text == next_one
    *said, latest, _instruction = asked[1].json["messages"]
    assert said[1] == back
    assert latest["content"] == next_one
    assert len(asked) == 2


async def test_an_answer_is_read_once_and_a_correction_is_not(tmp_path: Path) -> None:
    """Whatever a model would like to correct of its own corrections, there is one reading."""
    script = both(says(ANSWER, False), reads(RATE, {**RATE, "quote": "5.75 percent", "fixed": "6.75 percent"}))
    async with refining(tmp_path, script, delivery="hold", marks="clean") as (running, readings):
        assert (await ask(running)).text == ANSWER.replace("4.75", "5.75")
    assert len(readings()) == 1


# Several choices.


async def test_of_two_choices_the_headers_tell_the_corrected_one(tmp_path: Path) -> None:
    right = ANSWER.replace("4.75", "5.75")
    messages = [{"role": "assistant", "content": text} for text in (ANSWER, right)]
    choices = [{"index": n, "message": one, "finish_reason": "stop"} for n, one in enumerate(messages)]

    async def reading(seen: Seen, writer: asyncio.StreamWriter) -> None:
        said = seen.json["messages"][-2]["content"]
        await (reads(RATE) if said == ANSWER else reads())(seen, writer)

    script = both(answers(orjson.dumps({"choices": choices})), reading)
    async with refining(tmp_path, script, delivery="hold", marks="clean") as (running, readings):
        told = await ask(running, n=2)
    assert [choice["message"]["content"] for choice in orjson.loads(told.body)["choices"]] == [right, right]
    assert told.outcome == "corrected"
    assert len(readings()) == 2


# Who reads.


async def test_another_endpoint_can_read(tmp_path: Path) -> None:
    rewrite(tmp_path, backend="reader", model="checker", form="text")
    said = "【修正】百分之四点七五 → 百分之五点七五（依据：六月的产品说明书）"
    async with (
        upstream(says(ZH_ANSWER, False)) as (url, first),
        upstream(answers(completion(said))) as (other, second),
    ):
        path = write_config(tmp_path, [url], [], refine="refine.yaml")
        main = yaml.safe_load(path.read_text())
        main["backends"].append({"name": "reader", "type": "openai", "urls": [other], "models": ["checker"]})
        path.write_text(yaml.safe_dump(main))
        async with serving(path) as running:
            assert (await ask(running, "利率？")).outcome == "corrected"
            await quiet(running)
    assert len(first.calls) == 1
    (reading,) = second.calls
    assert reading.json["model"] == "checker"
    assert "response_format" not in reading.json


async def test_a_model_that_nobody_serves_cannot_read(tmp_path: Path) -> None:
    rewrite(tmp_path, model="checker")
    async with upstream(says(ANSWER, False)) as (url, raw):
        path = write_config(tmp_path, [url], [], refine="refine.yaml", backend={"models": ["m"]})
        async with serving(path) as running:
            assert (await ask(running)).headers["x-retrace-degraded"] == "refine; failed"
    assert len(raw.calls) == 1


async def test_one_conversation_that_is_refused_changes_nothing_for_others(tmp_path: Path) -> None:
    """An endpoint that takes schemas, and finds one conversation too long: it says 400 to that however it is asked."""

    async def reading(seen: Seen, writer: asyncio.StreamWriter) -> None:
        long = b"a long story" in seen.body
        too_long = answers(b'{"error": {"message": "the context is 4096 tokens at most"}}', 400)
        await (too_long if long else reads())(seen, writer)

    async with refining(tmp_path, both(says(ANSWER, False), reading)) as (running, readings):
        assert (await ask(running, "a long story")).outcome == "degraded"
        assert (await ask(running, "a short one")).outcome == "fine"
    assert "response_format" in readings()[-1].json
    assert "priority" in readings()[-1].json


# Reloads, and clients that leave.


@pytest.mark.parametrize("stream", [False, True])
async def test_a_reading_on_its_way_outlives_a_reload(tmp_path: Path, stream: bool) -> None:
    go = asyncio.Event()
    script = both(says(ANSWER, stream), waits(go, reads(RATE)))
    file: dict[str, Any] = {"delivery": "hold", "marks": "clean", "cache": CACHE, **PLENTY}
    async with refining(tmp_path, script, **file) as (running, readings):
        first = asyncio.create_task(ask(running, stream=stream))
        await until(readings)
        rewrite(tmp_path, tiers=[NEVER], guards={"seconds": 4, "concurrent": 1}, delivery="live")
        await reload(running)
        go.set()
        assert (await first).text == ANSWER.replace("4.75", "5.75")
        second = await ask(running, stream=stream)
        assert (second.text, second.headers["x-retrace-delivery"]) == (ANSWER, "live")
        assert len(readings()) == 1


async def test_refining_can_be_switched_on_and_off(tmp_path: Path) -> None:
    async with refining(tmp_path, both(says(ANSWER, False), reads(RATE))) as (running, readings):
        main = tmp_path / "gateway.yaml"
        told = yaml.safe_load(main.read_text())
        main.write_text(yaml.safe_dump({key: value for key, value in told.items() if key != "refine"}))
        await reload(running)
        off = await ask(running)
        main.write_text(yaml.safe_dump(told))
        await reload(running)
        assert (off.text, off.outcome, (await ask(running)).outcome) == (ANSWER, "", "corrected")
        assert len(readings()) == 1


async def test_an_edited_file_is_in_force_by_itself_and_a_bad_one_never(tmp_path: Path) -> None:
    async def outcome() -> str:
        return (await ask(running)).outcome

    async with refining(tmp_path, both(says(ANSWER, False), reads(RATE)), tiers=[NEVER]) as (running, _):
        assert await outcome() == ""
        rewrite(tmp_path)
        async with asyncio.timeout(5):
            while await outcome() != "corrected":  # noqa: ASYNC110 - asked over HTTP
                await asyncio.sleep(0.02)
        (tmp_path / "refine.yaml").write_text("tiers: [{type: oracle}]\n")
        async with asyncio.timeout(5):
            while (await running.metrics())["retrace_reload_ok"]:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert await outcome() == "corrected"
        async with running.http.get(f"{running.url}/readyz") as response:
            told = orjson.loads(await response.read())
        assert told["last_error"]["complaints"][0]["line"] == 1
        assert told["refine"] is True


async def test_what_did_not_change_is_kept_over_a_reload(tmp_path: Path) -> None:
    script = both(says(ANSWER, False), reads(RATE))
    async with refining(tmp_path, script, cache=CACHE) as (running, readings):
        await ask(running)
        rewrite(tmp_path, cache=CACHE, delivery="hold", marks="clean")
        await reload(running)
        assert (await ask(running)).text == ANSWER.replace("4.75", "5.75")
        assert await counted(running, "corrected", "known") == 1
        rewrite(tmp_path, cache={**CACHE, "most": 5})
        await reload(running)
        await ask(running)
    assert len(readings()) == 2


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("delivery", ["live", "hold"])
async def test_a_client_that_leaves_ends_its_reading(tmp_path: Path, delivery: str, stream: bool) -> None:
    script = both(says(ANSWER, stream), hangs())
    async with refining(tmp_path, script, delivery=delivery, guards={"seconds": 30}) as (running, readings):
        async with wire(running) as (_, writer):
            writer.write(post({"model": "m", "messages": [{"role": "user", "content": "hi"}], "stream": stream}))
            await until(readings)
        await asyncio.wait_for(readings()[0].closed.wait(), 1)
        await quiet(running)
        told = await running.metrics()
        assert told['retrace_client_gone_total{surface="chat"}'] == 1
        assert told["retrace_refine_up"] == 1
