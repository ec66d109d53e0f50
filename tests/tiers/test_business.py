"""`type: business`: the first case that fits decides; what stands in none is left to others."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from gateway.tiers import PASS, Decision, Opinion, Tier
from gateway.tiers.business import Plug
from tests.tiers.cases import case, shipped

ZH = "合同约定的付款期限与违约责任，应当结合双方的实际履行情况加以判断，并保留相关的书面证据。"
EN = "The parties should keep written evidence of what they agreed on and of how they performed it. "


def tier(*lines: dict[str, Any]) -> Tier:
    return Plug.model_validate({"type": "business", "cases": lines}).connect()


async def says(answer: str, **fields: Any) -> tuple[str, str]:
    """What the shipped tiers of business say, one after the other."""
    for said in shipped("business"):
        opinion = await Plug.model_validate(said).connect().judge(case(answer, **fields))
        if opinion.decision is not Decision.PASS:
            return opinion.decision.value, opinion.why
    return "pass", ""


@pytest.mark.parametrize("domain", ["legal", "finance", "medical"])
@pytest.mark.parametrize("answer", ["是。", "Yes.", ZH, EN])
async def test_important_customers_are_always_served_where_it_matters(domain: str, answer: str) -> None:
    assert await says(answer, tier="vip", domain=domain) == ("force", "vip")


@pytest.mark.parametrize(
    ("answer", "digit"), [(ZH * 6, "共三十天"), (ZH * 6, "5"), (EN * 3, "7"), (EN * 3, "two hundred")]
)
async def test_the_others_are_where_a_figure_could_hide(answer: str, digit: str) -> None:
    assert len(answer) > 200
    assert await says(answer + digit) == ("pass", "")
    assert await says(answer) == ("skip", "standard")
    assert await says(digit) == ("skip", "standard")


async def test_length_is_counted_in_characters_and_must_be_above_200() -> None:
    assert await says("一" * 199 + "5") == ("skip", "standard")
    assert await says("一" * 200 + "5") == ("pass", "")


async def test_what_stands_in_no_case_is_passed() -> None:
    assert await says(ZH * 6 + "5", tier="trial") == ("pass", "")
    assert await says(ZH * 6 + "5", tier="vip", domain="education") == ("pass", "")
    assert await says(ZH * 6 + "5", tier="vip") == ("pass", "")
    assert await tier().judge(case("5")) == PASS


async def test_the_first_case_that_fits_decides() -> None:
    one = {"why": "a", "tenant": "shop-*", "decision": "skip"}
    two = {"why": "b", "decision": "force"}
    assert await tier(one, two).judge(case("x", tenant="shop-1")) == Opinion(Decision.SKIP, "a")
    assert await tier(one, two).judge(case("x", tenant="bank")) == Opinion(Decision.FORCE, "b")
    assert await tier(two, one).judge(case("x", tenant="shop-1")) == Opinion(Decision.FORCE, "b")


async def test_an_answer_without_figures_can_be_meant_too() -> None:
    words = tier({"why": "words", "digits": False, "decision": "skip"})
    assert (await words.judge(case("none"))).decision is Decision.SKIP
    assert (await words.judge(case("1"))).decision is Decision.PASS


async def test_passing_can_add_to_the_risk_and_deciding_does_not() -> None:
    assert (await tier({"why": "a", "decision": "pass", "risk": 0.5}).judge(case("x"))).risk == 0.5
    assert (await tier({"why": "a", "decision": "skip", "risk": 0.5}).judge(case("x"))).risk == 0


@pytest.mark.parametrize(
    "lines",
    [
        [{"why": "a", "decision": "maybe"}],
        [{"why": "Not A Word", "decision": "skip"}],
        [{"decision": "skip"}],
        [{"why": "a", "decision": "skip"}, {"why": "a", "decision": "force"}],
        [{"why": "a", "decision": "skip", "min_chars": -1}],
    ],
)
def test_what_makes_no_sense_is_refused(lines: list[dict[str, Any]]) -> None:
    with pytest.raises(ValidationError):
        Plug.model_validate({"type": "business", "cases": lines})
