"""What is asked."""

from __future__ import annotations

import pytest

from tests.gates.questions import differs, told


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("How do I pay?", ["how"]),
        ("What is the best way to pay?", ["how"]),
        ("Pay my bill", ["how"]),
        ("I want to pay my bill", ["how"]),
        ("怎么付款", ["how"]),
        ("我想付款", ["how"]),
        ("Why can I pay?", ["why"]),
        ("怎么登录不了", ["may", "why"]),
        ("Where can I pay?", ["where"]),
        ("Can I pay by card?", ["may"]),
        ("可以付款吗", ["may"]),
        ("Should I pay by card?", ["should"]),
        ("Do I have to pay by card?", ["must"]),
        ("Is the shop open?", ["whether"]),
        ("有没有发票", ["whether"]),
        ("What can dogs eat?", ["may", "what"]),
        ("What do dogs eat?", ["what"]),
        ("How much is the phone?", ["how_much"]),
        ("What does the phone cost?", ["how_much"]),
        ("手机的价格是多少", ["how_much"]),
        ("手续费是多少", ["how_much"]),
        ("苹果有多少", ["how_many"]),
        ("天气如何", ["how_is"]),
        ("卡丢了怎么办", ["remedy"]),
        ("what is the fee", ["the"]),
        ("what is a fee", ["what"]),
        ("Can I not pay by card?", ["may", "may not"]),
    ],
)
def test_a_question_has_one_kind(text: str, wanted: list[str]) -> None:
    assert told("asked", text) == wanted


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Where is my card?", "Where can I get my card?"),
        ("When does it open?", "Where does it open?"),
        ("What should bees eat?", "What do bees eat?"),
        ("Who was the mayor?", "Who is the mayor?"),
        ("Why can't I pay?", "Why don't I pay?"),
        ("What is in the box?", "What is the box?"),
        ("Who can I contact?", "Who can contact me?"),
        ("我的利率是多少", "利率是多少"),
        ("什么是保险", "有什么保险"),
        ("这药怎么用", "这药怎么做"),
    ],
)
def test_what_is_asked_for_is_part_of_the_question(a: str, b: str) -> None:
    assert differs(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("借记卡和信用卡有什么区别", "借记卡和信用卡的区别是什么"),
        ("怎么改我的地址", "怎么改地址"),
        ("How do I change my address?", "How do I change the address?"),
        ("我要退款", "怎么退款"),
    ],
)
def test_what_says_nothing_is_no_part_of_it(a: str, b: str) -> None:
    assert differs(a, b) == ""
