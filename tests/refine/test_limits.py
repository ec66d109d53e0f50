"""What a reading may cost, and what follows when there is none: the breaker, the review queue, the backlog."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from gateway.refine.docket import FileDocket, Waiting
from tests.refine.rigs import ANSWER, NEVER, RATE, ZH_ANSWER, ZH_RATE, after, both, broken, hangs, reads, refining, says
from tests.refine.talk import CACHE, ask, counted, tenants, turns, waits
from tests.rig import Running, answers, until

QUEUE = {"type": "file", "path": "review.jsonl"}
BACKLOG = {"load_below": 1, "pause_seconds": 0.02}
VAGUE = {"type": "business", "cases": [{"decision": "pass", "why": "vague", "risk": 0.5}]}
DOWN = {"retry_seconds": 1, "seconds": 0.15}


async def ready(running: Running) -> Any:
    async with running.http.get(f"{running.url}/readyz") as response:
        return orjson.loads(await response.read())


async def outcome(running: Running) -> str:
    """Why an answer is degraded; else its outcome."""
    told = await ask(running)
    return told.headers.get("x-retrace-degraded", told.outcome).removeprefix("refine; ")


async def queued(folder: Path, count: int) -> Sequence[Waiting]:
    """What waits for a person, once there is so much."""
    reviewing = FileDocket(path=Path(QUEUE["path"])).reviewing(folder)
    async with asyncio.timeout(5):
        while len(found := (await reviewing.pending()).waiting) < count:  # noqa: ASYNC110 - a file tells nobody
            await asyncio.sleep(0.02)
    return found


# Tokens, places, time.


@pytest.mark.parametrize(("answer", "rate"), [(ANSWER, RATE), (ZH_ANSWER, ZH_RATE)])
async def test_who_has_spent_his_tokens_is_read_no_more(tmp_path: Path, answer: str, rate: dict[str, str]) -> None:
    script = both(says(answer, False), reads(rate, prompt_tokens=5000))
    guards = {"tenant_tokens_per_hour": 4000}
    async with tenants(tmp_path, script, guards=guards, cache=None) as (running, readings):
        told = [await ask(running, who=who) for who in ("one", "one", "two")]
        assert await counted(running, "degraded", "quota") == 1
    assert [one.outcome for one in told] == ["corrected", "degraded", "corrected"]
    assert len(readings()) == 2


async def test_what_is_known_costs_nothing(tmp_path: Path) -> None:
    script = both(says(ANSWER, False), reads(RATE, prompt_tokens=5000))
    async with refining(tmp_path, script, cache=CACHE, guards={"tenant_tokens_per_hour": 4000}) as (running, readings):
        assert [await outcome(running) for _ in range(3)] == ["corrected"] * 3
    assert len(readings()) == 1


async def test_a_quota_may_be_a_tenant_s_own(tmp_path: Path) -> None:
    quotas = [{"when": {"tenant": ["two"]}, "tokens_per_hour": 0}]
    script = both(says(ANSWER, False), reads())
    async with tenants(tmp_path, script, guards={"quotas": quotas}) as (running, _):
        assert [(await ask(running, who=who)).outcome for who in ("one", "two")] == ["fine", "degraded"]


async def test_a_reading_that_would_be_too_long_is_none(tmp_path: Path) -> None:
    script = both(says(ANSWER, False), reads())
    async with refining(tmp_path, script, guards={"request_tokens": 512}) as (running, readings):
        short, long = await ask(running, "Short."), await ask(running, "一段很长的问题。" * 100)
    assert (short.outcome, long.headers["x-retrace-degraded"]) == ("fine", "refine; too_long")
    assert len(readings()) == 1


async def test_so_many_at_once_as_many_that_wait_and_no_more(tmp_path: Path) -> None:
    go = asyncio.Event()
    script = both(says(ANSWER, False), waits(go, reads()))
    async with refining(tmp_path, script, guards={"concurrent": 1, "seconds": 5}) as (running, readings):
        first = [asyncio.create_task(ask(running)) for _ in range(2)]
        await until(readings)
        await until(lambda: running.server._pipeline.refiner._gate._inside == 2)
        assert await outcome(running) == "busy"
        assert len(readings()) == 1
        go.set()
        assert [(await one).outcome for one in first] == ["fine", "fine"]
        assert await outcome(running) == "fine"


async def test_all_of_it_takes_no_longer_than_it_may(tmp_path: Path) -> None:
    """Also if most of the time was spent waiting for a place."""
    script = both(says(ANSWER, False), hangs())
    guards = {"concurrent": 1, "seconds": 0.15}
    async with refining(tmp_path, script, guards=guards) as (running, _):
        async with asyncio.timeout(2):
            told = await asyncio.gather(*(outcome(running) for _ in range(2)))
    assert told == ["slow", "slow"]


# The breaker.


@pytest.mark.parametrize(("reading", "why"), [(broken(), "failed"), (broken(503), "failed"), (hangs(), "slow")])
async def test_after_faults_in_a_row_nobody_is_asked_any_more(tmp_path: Path, reading: Any, why: str) -> None:
    script = both(says(ANSWER, False), reading)
    async with refining(tmp_path, script, guards=DOWN) as (running, readings):
        assert [await outcome(running) for _ in range(5)] == [why] * 3 + ["down"] * 2
        assert len(readings()) == 3
        assert (await ready(running))["refine"] is False
        assert (await ready(running))["ready"] is True
        assert (await running.metrics())["retrace_refine_up"] == 0


async def test_a_machine_that_is_busy_is_no_excuse(tmp_path: Path) -> None:
    """All that was due by the time that anybody looks at the clock again: it is counted as slow all the same."""
    async with refining(tmp_path, both(says(ANSWER, False), hangs()), guards=DOWN) as (running, readings):
        for number in range(1, 4):
            asking = asyncio.create_task(outcome(running))
            await until(lambda: len(readings()) == number)  # noqa: B023 - it is asked here and now
            time.sleep(0.2)  # noqa: ASYNC251 - that is what busy means
            assert await asking == "slow"
        assert await outcome(running) == "down"


async def test_one_that_tries_again_finds_out_that_it_is_back(tmp_path: Path) -> None:
    script = both(says(ZH_ANSWER, False), turns(broken(), broken(), broken(), reads(ZH_RATE)))
    async with refining(tmp_path, script, guards=DOWN) as (running, readings):
        assert [await outcome(running) for _ in range(4)] == ["failed"] * 3 + ["down"]
        await asyncio.sleep(1.05)
        assert [await outcome(running) for _ in range(2)] == ["corrected"] * 2
        assert (await running.metrics())["retrace_refine_up"] == 1
    assert len(readings()) == 5


@pytest.mark.parametrize("status", [400, 404, 413, 422, 429])
async def test_what_is_wrong_with_one_request_stops_no_other(tmp_path: Path, status: int) -> None:
    script = both(says(ANSWER, False), turns(*[broken(status)] * 12, reads()))
    async with refining(tmp_path, script, guards=DOWN) as (running, readings):
        assert [await outcome(running) for _ in range(4)] == ["failed"] * 4
        assert (await ready(running))["refine"] is True
        while len(readings()) < 12:
            assert await outcome(running) == "failed"
        assert await outcome(running) == "fine"


async def test_an_answer_between_two_faults_is_enough(tmp_path: Path) -> None:
    script = both(says(ANSWER, False), turns(broken(), broken(), reads(), broken(), broken(), reads()))
    async with refining(tmp_path, script, guards=DOWN) as (running, _):
        told = [await outcome(running) for _ in range(6)]
    assert told == ["failed", "failed", "fine"] * 2


async def test_while_it_is_down_what_is_known_is_still_told(tmp_path: Path) -> None:
    script = both(says(ANSWER, False), turns(reads(RATE), broken()))
    async with refining(tmp_path, script, cache=CACHE, guards=DOWN) as (running, _):
        assert await outcome(running) == "corrected"
        for number in range(4):
            await ask(running, f"Question {number}?")
        assert (await ready(running))["refine"] is False
        assert await outcome(running) == "corrected"


# For a person to look at.


@pytest.mark.parametrize(("answer", "language"), [(ANSWER, "en"), (ZH_ANSWER, "zh")])
@pytest.mark.parametrize("stream", [False, True])
async def test_what_could_not_be_read_waits_for_a_person(
    tmp_path: Path, answer: str, language: str, stream: bool
) -> None:
    domains = {"words": {"finance": {"zh": ["年利率"], "en": ["deposit"]}}}
    script = both(says(answer, stream), broken())
    async with refining(tmp_path, script, queue=QUEUE, domains=domains) as (running, _):
        told = await ask(running, "利率 rate?", stream=stream)
        (waiting,) = await queued(tmp_path, 1)
    entry = waiting.entry
    assert entry.id.startswith(told.headers["x-retrace-id"])
    assert (entry.tenant, entry.surface, entry.model, entry.why) == ("default", "chat", "m", ("failed",))
    assert (entry.language, entry.domain, entry.question, entry.answer) == (language, "finance", "利率 rate?", answer)
    assert any(kind == "percent" for _, _, kind in entry.spans)


async def test_two_answers_to_one_question_wait_each(tmp_path: Path) -> None:
    messages = [{"role": "assistant", "content": text} for text in (ANSWER, ZH_ANSWER)]
    choices = [{"index": n, "message": one, "finish_reason": "stop"} for n, one in enumerate(messages)]
    script = both(answers(orjson.dumps({"choices": choices})), broken())
    async with refining(tmp_path, script, queue=QUEUE) as (running, _):
        await ask(running, n=2)
        assert {one.entry.answer for one in await queued(tmp_path, 2)} == {ANSWER, ZH_ANSWER}


async def test_what_was_read_or_needs_nothing_does_not(tmp_path: Path) -> None:
    script = both(turns(says(ANSWER, False), says("Yes.", False), says(ZH_ANSWER, False)), turns(reads(RATE), broken()))
    async with refining(tmp_path, script, queue=QUEUE) as (running, _):
        for _ in range(3):
            await ask(running)
        (waiting,) = await queued(tmp_path, 1)
    assert waiting.entry.answer == ZH_ANSWER


async def test_a_queue_that_cannot_be_written_harms_no_answer(tmp_path: Path) -> None:
    (tmp_path / "review.jsonl").mkdir()
    async with refining(tmp_path, both(says(ANSWER, False), broken()), queue=QUEUE) as (running, _):
        assert (await ask(running)).outcome == "degraded"
        events: set[str] = set()
        async with asyncio.timeout(5):
            while not events:
                events = {name for name in await running.metrics() if name.startswith("retrace_review_queue_total")}


async def test_a_queue_moves_with_a_reload_and_loses_nothing(tmp_path: Path) -> None:
    async with refining(tmp_path, both(says(ANSWER, False), broken()), queue=QUEUE) as (running, _):
        await ask(running)
        text = (tmp_path / "refine.yaml").read_text()
        (tmp_path / "refine.yaml").write_text(text.replace("review.jsonl", "other.jsonl"))
        await running.server.steward.reload(running.server._apply)
        await ask(running)
        assert len(await queued(tmp_path, 1)) == 1
        await until((tmp_path / "other.jsonl").exists)


# For later.


@pytest.mark.parametrize(("answer", "rate"), [(ANSWER, RATE), (ZH_ANSWER, ZH_RATE)])
async def test_what_could_not_be_read_is_read_later_and_then_known(
    tmp_path: Path, answer: str, rate: dict[str, str]
) -> None:
    script = both(says(answer, False), turns(broken(), reads(rate)))
    file: dict[str, Any] = {"queue": QUEUE, "cache": CACHE, "backlog": BACKLOG}
    async with refining(tmp_path, script, **file) as (running, readings):
        assert await outcome(running) == "failed"
        waiting = await queued(tmp_path, 2)
        assert await outcome(running) == "corrected"
        assert await counted(running, "corrected", "known") == 1
        assert (await running.metrics())['retrace_refine_backlog_total{event="worked"}'] == 1
    assert len(readings()) == 2
    assert [one.entry.why for one in waiting] == [("failed",), ("late",)]
    assert {one.entry.answer for one in waiting} == {answer}


async def test_later_it_is_tried_again_and_nobody_hears_of_what_is_fine(tmp_path: Path) -> None:
    script = both(says(ANSWER, False), turns(broken(), broken(), reads()))
    file: dict[str, Any] = {"queue": QUEUE, "cache": CACHE, "backlog": BACKLOG}
    async with refining(tmp_path, script, **file) as (running, readings):
        await ask(running)
        await until(lambda: len(readings()) == 3)
        async with asyncio.timeout(2):
            while await counted(running, "fine", "known") < 1:
                await ask(running)
        told = await running.metrics()
        assert len(await queued(tmp_path, 1)) == 1
    assert told['retrace_refine_backlog_total{event="failed"}'] == 1
    assert told['retrace_refine_backlog_total{event="worked"}'] == 1


async def test_what_looked_risky_to_some_and_was_wanted_by_none_is_read_later(tmp_path: Path) -> None:
    async with refining(
        tmp_path, both(says(ANSWER, False), reads(RATE)), tiers=[VAGUE], cache=CACHE, queue=QUEUE, backlog=BACKLOG
    ) as (running, readings):
        first = await ask(running)
        (waiting,) = await queued(tmp_path, 1)
        assert (first.text, first.outcome) == (ANSWER, "")
        assert waiting.entry.why == ("late",)
        assert len(readings()) == 1


@pytest.mark.parametrize("tier", [NEVER, {"type": "business"}])
async def test_what_looked_risky_to_nobody_is_not(tmp_path: Path, tier: dict[str, Any]) -> None:
    script = both(says(ANSWER, False), reads(RATE))
    async with refining(tmp_path, script, tiers=[tier], cache=CACHE, backlog=BACKLOG) as (running, readings):
        await ask(running)
        await asyncio.sleep(0.1)
        assert not any("retrace_refine_backlog_total{" in name for name in await running.metrics())
    assert readings() == []


async def test_while_requests_are_under_way_nothing_is_read_for_later(tmp_path: Path) -> None:
    go = asyncio.Event()
    answer = turns(says(ANSWER, False), waits(go, says("Yes.", False)))
    script = both(answer, turns(broken(), reads(RATE)))
    async with refining(tmp_path, script, cache=CACHE, backlog={**BACKLOG, "pause_seconds": 0.05}) as (running, r):
        await ask(running)
        busy = asyncio.create_task(ask(running))
        await asyncio.sleep(0.15)
        before = len(r())
        go.set()
        await busy
        await until(lambda: len(r()) == 2)
    assert before <= 2


async def test_a_reading_for_later_is_given_up_when_the_gateway_ends(tmp_path: Path) -> None:
    script = both(says(ANSWER, False), turns(broken(), after(30, reads())))
    async with refining(tmp_path, script, cache=CACHE, backlog=BACKLOG) as (running, readings):
        await ask(running)
        await until(lambda: len(readings()) == 2)
    await asyncio.wait_for(readings()[1].closed.wait(), 2)
