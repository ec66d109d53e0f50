"""Tiers asked in their order: the first that decides is enough, and one that can't judge is passed over and told of."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.metrics import Metrics
from gateway.refine.panel import Panel, Wish
from gateway.tiers import PASS, Case, Decision, Opinion, Tier, TierFault, TierSpec
from gateway.tiers.business import Line, Plug
from tests.tiers.cases import case

FORCE, SKIP = Opinion(Decision.FORCE, "sure"), Opinion(Decision.SKIP, "cited")
EN, ZH = case("It pays 4.75 percent."), case("年利率是百分之四点七五。")


class Living:
    """Says one thing, or can't, and remembers what it was asked. Its time to think it needs, unless it is `instant`."""

    def __init__(self, says: Opinion | TierFault) -> None:
        self.says = says
        self.instant = False
        self.asked: list[Case] = []
        self.foreseen: list[Case] = []
        self.life: list[str] = []

    def foresee(self, case: Case) -> Opinion | None:
        self.foreseen.append(case)
        return self.says if self.instant and isinstance(self.says, Opinion) else None

    async def judge(self, case: Case) -> Opinion:
        self.asked.append(case)
        if isinstance(self.says, TierFault):
            raise self.says
        return self.says

    async def start(self) -> None:
        self.life.append("started")

    async def stop(self) -> None:
        self.life.append("stopped")


class Spec(TierSpec):
    """Names a tier that lives already."""

    living: Any

    def connect(self) -> Tier:
        living: Tier = self.living
        return living


def panel(**tiers: Opinion | TierFault) -> tuple[Panel, list[Living], Metrics]:
    """Tiers by the words that they say, in order."""
    living = [Living(says) for says in tiers.values()]
    metrics = Metrics()
    specs = [Spec(type=name, living=one) for name, one in zip(tiers, living, strict=True)]
    return Panel(specs, metrics), living, metrics


def counted(metrics: Metrics) -> set[str]:
    """What was counted of tiers, each once."""
    lines = metrics.page().decode().splitlines()
    return {line.partition("{")[2] for line in lines if line.startswith("retrace_tier_decisions_total{")}


def down(kind: str) -> TierFault:
    return TierFault("no", kind=kind)


@pytest.mark.parametrize("asked", [EN, ZH])
@pytest.mark.parametrize(("says", "wanted"), [(FORCE, True), (SKIP, False)])
async def test_the_first_that_decides_is_the_last_that_is_asked(asked: Case, says: Opinion, wanted: bool) -> None:
    tiers, (first, second, third), metrics = panel(rules=PASS, classifier=says, business=FORCE)
    assert await tiers.judge(asked) == Wish(wanted, f"classifier:{says.why}", 0.0)
    assert [len(one.asked) for one in (first, second, third)] == [1, 1, 0]
    assert counted(metrics) == {
        'decision="pass",tier="rules"} 1.0',
        f'decision="{says.decision}",tier="classifier"}} 1.0',
    }


async def test_risk_adds_up_from_tier_to_tier() -> None:
    some, less = Opinion(Decision.PASS, "vague", 0.75), Opinion(Decision.PASS, "calm", -0.25)
    tiers, (_, second, third), _ = panel(a=some, b=less, c=PASS)
    assert await tiers.judge(EN._replace(risk=1.0)) == Wish(False, "", 1.5)
    assert (second.asked[0].risk, third.asked[0].risk) == (1.75, 1.5)


async def test_nobody_to_ask_wants_nothing() -> None:
    assert await panel()[0].judge(ZH) == Wish(False)


@pytest.mark.parametrize("kind", ["broken", "slow", "busy"])
async def test_one_that_cannot_judge_is_passed_over(kind: str) -> None:
    tiers, (_, second), metrics = panel(classifier=down(kind), business=FORCE)
    assert await tiers.judge(ZH) == Wish(True, "business:sure", 0.0, "")
    assert second.asked
    assert f'decision="{kind}",tier="classifier"}} 1.0' in counted(metrics)


async def test_if_none_decides_it_is_told_who_could_not() -> None:
    tiers, (_, _, last), _ = panel(rules=Opinion(Decision.PASS, "", 0.5), classifier=down("slow"), business=PASS)
    assert await tiers.judge(EN) == Wish(False, "", 0.5, "classifier_slow")
    assert last.asked[0].risk == 0.5


async def test_all_of_them_live_as_long() -> None:
    tiers, living, _ = panel(rules=SKIP, classifier=PASS)
    await tiers.start()
    await tiers.stop()
    for one in living:
        assert one.life == ["started", "stopped"]
        assert not one.asked


async def test_what_was_foreseen_is_not_asked_again_and_one_that_needs_long_has_begun() -> None:
    vague = Opinion(Decision.PASS, "vague", 0.75)
    tiers, (first, second, third), metrics = panel(rules=vague, classifier=PASS, business=FORCE)
    first.instant = third.instant = True
    foreseen = tiers.foresee(ZH)
    assert foreseen.opinions == [vague]
    assert (second.foreseen, third.foreseen) == ([ZH._replace(risk=0.75)], [])
    assert await tiers.judge(ZH, foreseen) == Wish(True, "business:sure", 0.75)
    assert (first.asked, second.asked) == ([], [ZH._replace(risk=0.75)])
    assert 'decision="pass",tier="rules"} 1.0' in counted(metrics)


async def test_nobody_begins_where_a_tier_before_has_decided() -> None:
    tiers, (first, second), _ = panel(rules=SKIP, classifier=FORCE)
    first.instant = True
    foreseen = tiers.foresee(EN)
    assert not second.foreseen
    assert await tiers.judge(EN, foreseen) == Wish(False, "rules:cited")


@pytest.mark.parametrize("mine", [True, False])
async def test_what_was_foreseen_of_another_answer_or_by_others_says_nothing(mine: bool) -> None:
    tiers, (first,), _ = panel(rules=SKIP)
    others, (other,), _ = panel(rules=FORCE)
    first.instant = other.instant = True
    foreseen = tiers.foresee(EN) if mine else others.foresee(ZH)
    assert await tiers.judge(ZH, foreseen) == Wish(False, "rules:cited")
    assert first.asked == [ZH]


async def test_tiers_as_yaml_says_them() -> None:
    vip = Line(tier=("vip",), decision=Decision.FORCE, why="vip")
    small = Line(decision=Decision.PASS, why="small", risk=0.5)
    tiers = Panel([Plug(cases=(vip, small)), Plug(cases=(Line(decision=Decision.SKIP, why="rest"),))], Metrics())
    await tiers.start()
    assert await tiers.judge(EN._replace(tier="vip")) == Wish(True, "business:vip")
    assert await tiers.judge(EN) == Wish(False, "business:rest", 0.5)
    await tiers.stop()
