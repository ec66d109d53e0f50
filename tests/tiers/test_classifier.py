"""`type: classifier`: it forces above its threshold, what earlier tiers saw counts, and it says if it can't judge."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from gateway.tiers import PASS, Decision, Opinion, TierFault
from gateway.tiers._model import Scorer
from gateway.tiers.classifier import Classifier, Plug, logit
from tests.rig import until
from tests.tiers.cases import case, shipped
from tests.tiers.scorers import ByLength, Held, Squeamish

FORCE = Opinion(Decision.FORCE, "classifier")


@asynccontextmanager
async def tier(model: Scorer, **fields: Any) -> AsyncIterator[Classifier]:
    made = Classifier(Plug(**{"timeout_ms": 5000, **fields}), lambda: model)
    await made.start()
    try:
        yield made
    finally:
        await made.stop()


@pytest.mark.parametrize(
    ("answer", "context", "least"),
    [("答", "", 40), ("a", "", 60), ("答", "背景", 50), ("a", "told", 70), ("a", " \n", 60)],
)
async def test_the_threshold_is_the_models_own_by_language_and_context(answer: str, context: str, least: int) -> None:
    async with tier(ByLength()) as made:
        assert await made.judge(case(answer * (least - 1), context=context)) == PASS
        assert await made.judge(case(answer * (least + 1), context=context)) == FORCE


@pytest.mark.parametrize(("fields", "least"), [({"threshold": 0.25}, 25), ({"false_trigger_cost": 0.25}, 20)])
async def test_or_yaml_says_it_or_what_a_false_trigger_costs(fields: dict[str, float], least: int) -> None:
    async with tier(ByLength(), **fields) as made:
        assert await made.judge(case("x" * (least - 1))) == PASS
        assert await made.judge(case("x" * (least + 1))) == FORCE


async def test_what_earlier_tiers_saw_counts_in_log_odds() -> None:
    async with tier(ByLength(), threshold=0.5) as made:
        assert await made.judge(case("x" * 40, risk=-logit(0.4) + 0.01)) == FORCE
        assert await made.judge(case("x" * 40, risk=-logit(0.4) - 0.01)) == PASS
        assert await made.judge(case("x" * 60, risk=-1.0)) == PASS
        assert await made.judge(case("", risk=1.0)) == PASS
        assert await made.judge(case("x" * 500, risk=-1.0)) == FORCE


async def test_it_can_rule_a_check_out() -> None:
    async with tier(ByLength(), threshold=0.5, skip_below=0.1) as made:
        assert (await made.judge(case("x" * 9))).decision is Decision.SKIP
        assert (await made.judge(case("x" * 9, risk=1.0))).decision is Decision.PASS
        assert (await made.judge(case("x" * 11))).decision is Decision.PASS


async def test_what_was_foreseen_is_not_scored_again() -> None:
    model = ByLength()
    async with tier(model) as made:
        made.foresee(case("a"))
        assert await made.judge(case("other", question="another")) == PASS
        made.foresee(case("a" * 80))
        assert await made.judge(case("second", question="another")) == PASS
        assert await made.judge(case("a" * 80)) == FORCE
        assert await made.judge(case("a" * 81)) == FORCE
    assert sorted(answer for batch in model.seen for answer in batch if answer[0] == "a") == ["a", "a" * 80, "a" * 81]


async def test_a_text_that_is_being_scored_is_waited_for() -> None:
    model = Held()
    async with tier(model) as made:
        made.foresee(case("a" * 80))
        await asyncio.to_thread(model.begun.wait, 5)
        judged = asyncio.create_task(made.judge(case("a" * 80)))
        await asyncio.sleep(0)
        model.gate.set()
        assert await judged == FORCE
    assert model.seen == [["a" * 80]]


async def test_one_that_is_too_slow_is_not_waited_for_and_recovers() -> None:
    model = Held()
    async with tier(model, timeout_ms=20) as made:
        with pytest.raises(TierFault, match="20 ms") as fault:
            await made.judge(case("a" * 80))
        assert fault.value.kind == "slow"
        model.gate.set()
        await until(lambda: bool(model.seen))
        assert await made.judge(case("b" * 80)) == FORCE


async def test_too_many_are_told_so_at_once() -> None:
    model = Held()
    async with tier(model, queue=1) as made:
        first = asyncio.create_task(made.judge(case("a")))
        await asyncio.to_thread(model.begun.wait, 5)
        second = asyncio.create_task(made.judge(case("b")))
        await asyncio.sleep(0)
        with pytest.raises(TierFault) as fault:
            await made.judge(case("c"))
        assert fault.value.kind == "busy"
        model.gate.set()
        assert [await first, await second] == [PASS, PASS]


async def test_whoever_leaves_makes_room() -> None:
    model = Held()
    async with tier(model, queue=1) as made:
        first = asyncio.create_task(made.judge(case("a")))
        await asyncio.to_thread(model.begun.wait, 5)
        gone = asyncio.create_task(made.judge(case("gone")))
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.wait({gone})
        stays = asyncio.create_task(made.judge(case("stays")))
        await asyncio.sleep(0)
        model.gate.set()
        assert [await first, await stays] == [PASS, PASS]
    assert model.seen == [["a"], ["stays"]]


async def test_a_fault_of_the_model_is_told_and_the_next_text_is_judged() -> None:
    async with tier(Squeamish()) as made:
        made.foresee(case("poison"))
        for _ in range(2):
            with pytest.raises(TierFault, match="wrong shape") as fault:
                await made.judge(case("poison"))
            assert fault.value.kind == "broken"
        assert await made.judge(case("a" * 80)) == FORCE


async def test_without_a_model_everybody_is_told(tmp_path: Path) -> None:
    made = Plug.model_validate({"type": "classifier", "model": "none"}, context={"folder": tmp_path}).connect()
    made.foresee(case("a"))
    await made.start()
    made.foresee(case("a"))
    for _ in range(2):
        with pytest.raises(TierFault) as fault:
            await made.judge(case("a"))
        assert fault.value.kind == "broken"
        assert str(tmp_path) in str(fault.value)
    await made.stop()


def test_yaml_says_it() -> None:
    assert Plug.model_validate(shipped("classifier")[0]).least is None
    assert Plug(false_trigger_cost=1.0).least == 0.5


@pytest.mark.parametrize(
    "fields",
    [
        {"threshold": 0.5, "false_trigger_cost": 1.0},
        {"threshold": 0.5, "skip_below": 0.6},
        {"threshold": 1.0},
        {"timeout_ms": 0},
        {"queue": 0},
        {"batch": 0},
    ],
)
def test_what_makes_no_sense_is_refused(fields: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        Plug.model_validate(fields)
