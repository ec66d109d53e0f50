"""Rules that take their time: what a probe finds, its rule decides; one that can't say is broken, never silent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from gateway.jury import Case, Jury, blocking
from gateway.metrics import Metrics
from gateway.probes import Question
from gateway.probes.external import External
from gateway.rules import Rule
from gateway.types import Action, Side
from tests.rig import silent, until, upstream
from tests.verifier import FLAG, PASS, flags, slow, verdicts, verifier

CODES = ("R101", "R102", "R900")


def rules(url: str, **actions: str) -> list[Rule]:
    return [Rule.model_validate(slow(url, action, id=name)) for name, action in actions.items()]


def case(rule: Rule, text: str = "你的密码是 hunter2") -> Case:
    return Case(rule, Question("rt-1", Side.INPUT, text, "user", "t", "m"))


@asynccontextmanager
async def jury(of: list[Rule]) -> AsyncIterator[tuple[Jury, Metrics]]:
    metrics = Metrics()
    made = Jury(metrics)
    await made.apply(of, CODES)
    try:
        yield made, metrics
    finally:
        await made.stop()


def counted(metrics: Metrics) -> dict[str, str]:
    lines = metrics.page().decode().splitlines()
    told = dict(
        line.rsplit(" ", 1) for line in lines if line.startswith(("retrace_probes_total", "retrace_guard_broken_total"))
    )
    return {name.partition("{")[2].rstrip("}"): count for name, count in told.items()}


@pytest.mark.parametrize("action", ["monitor", "tag", "refine", "block"])
async def test_a_finding_is_what_its_rule_says(action: str) -> None:
    async with verifier(flags("hunter2")) as (url, up):
        (rule,) = rules(url, one=action)
        async with jury([rule]) as (made, metrics):
            (ruling,) = await made.rulings([case(rule)])
            assert await made.rulings([case(rule, "天气")]) == []
    found = ruling.finding
    assert (found.rule, found.reason, found.action, found.start, found.end) == ("one", "R101", Action(action), 6, 13)
    assert found.text == "hunter2"
    assert (blocking([ruling]) is ruling) is (action == "block")
    assert counted(metrics) == {'rule="one",said="flag"': "1.0", 'rule="one",said="pass"': "1.0"}
    assert len(up.seen) == 2


@pytest.mark.parametrize(("named", "told"), [("R102", "R102"), ("R555", "R101"), ("R900", "R101"), (None, "R101")])
async def test_a_probe_may_name_another_reason_that_is_defined(named: str | None, told: str) -> None:
    async with verifier(lambda _: {**FLAG, "reason": named}) as (url, _):
        (rule,) = rules(url, one="block")
        async with jury([rule]) as (made, _):
            (ruling,) = await made.rulings([case(rule)])
    assert ruling.finding.reason == told


@pytest.mark.parametrize(
    ("on_error", "action", "told"),
    [
        ("block", "block", Action.BLOCK),
        ("tag", "block", Action.TAG),
        ("allow", "block", None),
        ("block", "monitor", None),
    ],
)
async def test_a_probe_that_cannot_say_does_what_its_rule_says(on_error: str, action: str, told: Action | None) -> None:
    rule = Rule.model_validate(slow("http://127.0.0.1:9/", action, id="one", on_error=on_error))
    async with jury([rule]) as (made, metrics):
        ruled = await made.rulings([case(rule)])
    assert [(one.finding.reason, one.finding.action) for one in ruled] == ([("R900", told)] if told else [])
    assert counted(metrics) == {'rule="one"': "1.0", 'rule="one",said="unreachable"': "1.0"}


async def test_whatever_breaks_in_a_probe_becomes_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(_self: External, _question: Question) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(External, "ask", broken)
    (rule,) = rules("http://h/", one="block")
    async with jury([rule]) as (made, metrics):
        (ruling,) = await made.rulings([case(rule)])
    assert (ruling.finding.reason, ruling.finding.action) == ("R900", Action.BLOCK)
    assert counted(metrics) == {'rule="one"': "1.0", 'rule="one",said="broken"': "1.0"}


async def test_who_blocks_decides_and_nobody_waits_for_the_others() -> None:
    async with upstream(silent) as (never, up), verifier(lambda _: FLAG) as (url, _):
        (waiting,), (quick,) = rules(never, waiting="tag"), rules(url, quick="block")
        async with jury([waiting, quick]) as (made, metrics):
            (ruling,) = await made.rulings([case(waiting), case(quick)])
            assert ruling.case.rule is quick
            await until(lambda: up.seen and up.seen[0].closed.is_set())
        assert counted(metrics)['rule="waiting",said="dropped"'] == "1.0"


async def test_all_are_asked_at_once() -> None:
    both = asyncio.Barrier(2)

    async def script(seen: Any, writer: asyncio.StreamWriter) -> None:
        await both.wait()
        await verdicts(lambda _: PASS)(seen, writer)

    async with upstream(script) as (url, _):
        one, two = rules(url, one="block", two="tag")
        async with jury([one, two]) as (made, _):
            assert await made.rulings([case(one), case(two)]) == []


async def test_a_probe_that_stays_goes_on_with_all_that_it_knows_and_one_that_goes_lingers() -> None:
    async with verifier(lambda _: PASS) as (url, up):
        kept, gone = rules(url, kept="block"), rules(f"{url}/other", gone="block")
        async with jury([*kept, *gone]) as (made, _):
            first: Mapping[Any, Any] = dict(made._living)
            living: Mapping[Any, Any] = made._living
            again = rules(url, renamed="tag")
            await made.apply(again, CODES)
            assert living[again[0].check] is first[kept[0].check]
            assert await made.rulings([case(gone[0])]) == []  # whoever was on the way is still served
            await made.apply(again, CODES)
            (ruling,) = await made.rulings([case(gone[0])])
            assert ruling.finding.reason == "R900"
    assert len(up.seen) == 1
