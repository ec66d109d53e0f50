"""What is known of an answer that may be read once more: as tiers see it, and as the second reading gets it."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.refine.ask import Manner
from gateway.refine.matter import CONTEXT, Result, unfit
from gateway.types import Outcome, Principal, Refined
from tests.refine.matters import chat, file, matter
from tests.refine.rigs import ANSWER, ZH_ANSWER

DOMAINS = {"words": {"finance": {"zh": ["年利率"], "en": ["deposit"]}, "legal": {"zh": ["合同法"], "en": ["statute"]}}}


@pytest.mark.parametrize(
    ("answer", "language", "domain"),
    [
        (ANSWER, "en", "finance"),
        (ZH_ANSWER, "zh", "finance"),
        ("The statute says so.", "en", "legal"),
        ("好。", "zh", ""),
    ],
)
def test_an_answer_has_a_language_and_a_domain(answer: str, language: str, domain: str) -> None:
    case = matter(chat("?"), file(domains=DOMAINS)).case(answer)
    assert (case.answer, case.language, case.domain) == (answer, language, domain)


def test_the_question_is_asked_last_and_all_the_rest_is_context() -> None:
    turns: list[str | tuple[str, Any]] = [
        ("system", "你是顾问。"),
        "第一个问题？",
        ("assistant", "第一个回答。"),
        "And the rate?",
    ]
    case = matter(chat(*turns)).case(ANSWER)
    assert case.question == "And the rate?"
    assert case.context == "你是顾问。\n第一个问题？\n第一个回答。"


def test_a_question_in_parts_is_one() -> None:
    parts = [{"type": "text", "text": "Here is the offer."}, {"type": "text", "text": "What is the rate?"}]
    case = matter(chat(("user", parts))).case(ANSWER)
    assert case.question == "Here is the offer.\nWhat is the rate?"
    assert "Here is the offer." in case.context


def test_what_a_tool_told_is_context_though_it_stands_behind_the_question() -> None:
    case = matter(chat("利率多少？", ("tool", "查询结果：5.75%"))).case(ZH_ANSWER)
    assert (case.question, case.context) == ("利率多少？", "查询结果：5.75%")


def test_nobody_may_have_asked_anything() -> None:
    case = matter(chat(("system", "Say something."))).case(ANSWER)
    assert (case.question, case.context) == ("", "Say something.")


def test_of_a_long_context_its_end_is_looked_at() -> None:
    case = matter(chat(("system", "a" * CONTEXT + "the end"), "?")).case(ANSWER)
    assert len(case.context) == CONTEXT
    assert case.context.endswith("the end")


def test_it_is_known_who_asked_where() -> None:
    body = {"model": "checker", "prompt": "The rate is"}
    case = matter(body, who=Principal("bank", "vip")).case(ANSWER)
    assert (case.tenant, case.tier, case.surface, case.model) == ("bank", "vip", "completions", "checker")
    assert case.question == "The rate is"
    assert case.risk == 0


def test_the_second_reading_gets_the_conversation_as_it_went_upstream() -> None:
    one = matter(chat("利率多少？"), file(domains=DOMAINS), who=Principal("bank"))
    errand = one.errand(one.case(ZH_ANSWER))
    assert errand.body is one.body
    assert (errand.tenant, errand.model, errand.answer) == ("bank", "m", ZH_ANSWER)
    assert (errand.language, errand.domain) == ("zh", "finance")


def test_the_file_says_how_it_is_asked() -> None:
    guards = {"most_marks": 3, "reply_tokens": 64, "reply_share": 2}
    told = file(backend="other", model="reader", form="text", quotes="clauses", guards=guards)
    assert matter(chat("?"), told).manner == Manner("other", "reader", "text", 3, 64, 2.0, "clauses")
    assert matter(chat("?")).manner == Manner(None, None, "auto", 2, 256, 0.6, "facts")


@pytest.mark.parametrize(
    ("answer", "fields", "why"),
    [
        (ANSWER, {}, None),
        (ZH_ANSWER, {}, None),
        (ANSWER[:49], {}, "short"),
        ("答", {}, "short"),
        (f"[corrected] and [corrected]: {ANSWER}", {}, "marked"),
        (f"【修正】{ZH_ANSWER}【修正】", {}, "marked"),
        (f"【修正】百分之五。{ANSWER} [corrected]", {}, "marked"),
        (f"[corrected] {ANSWER}", {}, None),
        (ANSWER, {"response_format": {"type": "json_object"}}, "shaped"),
        (ANSWER, {"response_format": {"type": "text"}}, None),
        (ANSWER, {"guided_regex": ".*"}, "shaped"),
        ("x", {"guided_regex": ".*"}, "short"),
    ],
)
def test_some_answers_are_never_read_again(answer: str, fields: dict[str, Any], why: str | None) -> None:
    assert unfit(matter(chat("?", **fields)), answer) == why


def test_what_is_long_enough_is_said_in_the_file() -> None:
    told = file(guards={"min_chars": 3, "most_marks": 1})
    assert unfit(matter(chat("?"), told), "三个字") is None
    assert unfit(matter(chat("?"), told), "[corrected] yes") == "marked"


def test_a_result_tells_whether_it_changes_anything() -> None:
    fine = Refined(Outcome.FINE)
    assert not Result(fine).changes
    assert Result(fine, instead="").changes
    assert Result(fine, behind="x").changes
