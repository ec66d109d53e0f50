"""The domain with most different words wins, in both languages; words inside other words are none."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from gateway.refine.domains import MOST, Domains, domain_of
from tests.tiers.cases import written

SHIPPED = Domains.model_validate(written()["domains"])


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("这只基金的年化收益率是多少？", "finance"),
        ("个人所得税怎么申报", "finance"),
        ("公司拖欠工资，劳动合同还没到期，我能申请仲裁吗？", "legal"),
        ("《民法典》对违约有什么规定？", "legal"),
        ("布洛芬和头孢能一起吃吗，孩子发烧了", "medical"),
        ("我的订单还没发货，可以退款吗？", "ecommerce"),
        ("高考数学题怎么做，老师没讲", "education"),
        ("What is the expense ratio of this mutual fund?", "finance"),
        ("How are stocks and dividends taxed as income tax?", "finance"),
        ("Can my landlord start an eviction without going to court?", "legal"),
        ("Which side effects does this medication have for diabetes?", "medical"),
        ("Where is my order? The tracking number does not work.", "ecommerce"),
        ("Explain the homework on geometry to a student.", "education"),
        ("我想买一只ETF", "finance"),
        ("今天天气怎么样？", ""),
        ("How do I sort a list in Python?", ""),
        ("", ""),
        ("\ud800 🐎", ""),
    ],
)
def test_a_text_is_of_the_domain_whose_words_it_holds(text: str, domain: str) -> None:
    assert domain_of(text, SHIPPED) == domain


def domains(**fields: Any) -> Domains:
    words = {"a": {"zh": ["合同"], "en": ["tax", "net income"]}, "b": {"zh": ["药物"], "en": ["dose", "pass", "Fee"]}}
    return Domains.model_validate({"words": words, **fields})


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("A tax!", "a"),
        ("a taxi", ""),
        ("Doses of it", "b"),
        ("overdose", ""),
        ("to pas", ""),
        ("to PASS", "b"),
        ("the fees", "b"),
        ("net\nincomes", "a"),
        ("internet income", ""),
        ("签合同", "a"),
    ],
)
def test_english_words_stand_alone_in_either_number(text: str, domain: str) -> None:
    assert domain_of(text, domains()) == domain


def test_more_different_words_beat_one_repeated() -> None:
    assert domain_of("tax tax tax tax 药物 dose", domains()) == "b"


def test_among_as_many_the_more_frequent_wins_then_the_first() -> None:
    assert domain_of("tax dose dose", domains()) == "b"
    assert domain_of("dose tax", domains()) == "a"


def test_a_domain_can_ask_for_more_words() -> None:
    assert domain_of("tax", domains(least=2)) == ""
    assert domain_of("tax 合同", domains(least=2)) == "a"


def test_only_the_head_of_a_text_is_read() -> None:
    assert domain_of("x " * (MOST // 2) + "tax", domains()) == ""
    assert domain_of("tax " + "x " * MOST, domains()) == "a"


def test_without_domains_nothing_is_of_any() -> None:
    assert domain_of("tax", Domains()) == ""


@pytest.mark.parametrize("words", [{"A b": {"en": ["tax"]}}, {"a": {"fr": ["taxe"]}}, {"a": {"en": ["x"]}}])
def test_what_is_no_domain_is_refused(words: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Domains.model_validate({"words": words})
