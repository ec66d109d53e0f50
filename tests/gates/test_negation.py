"""Negation."""

from __future__ import annotations

import pytest

from tests.gates.questions import differs, told


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Why can't I pay?", 1),
        ("Is it never closed?", 1),
        ("There are no fees", 1),
        ("Is it unavailable?", 1),
        ("Am I unable to pay?", 1),
        ("It is not illegal", 2),
        ("Not only cards but cash", 0),
        ("Nothing but cash", 0),
        ("Can I ask whether or not it works?", 0),
        ("Is it noted in the notice?", 0),
        ("no. 5", 0),
        ("为什么不发货", 1),
        ("没有发货", 1),
        ("请勿打扰", 1),
        ("无法登录", 1),
        ("登录不了", 1),
        ("能不能退款", 0),
        ("有没有发票", 0),
        ("不得不退款", 0),
        ("不锈钢锅", 0),
        ("非常好的别墅", 0),
        ("无论如何", 0),
        ("别人的", 0),
        ("除非下雨", 0),
        ("未来的无线网", 0),
        ("是否可以", 0),
        ("我不知道怎么退款", 0),
    ],
)
def test_what_denies_is_counted(text: str, count: int) -> None:
    assert told("negation", text) == ["not"] * count


def test_a_denial_may_stand_behind() -> None:
    assert differs("为什么登录不了？", "为什么无法登录？") == ""


def test_who_must_not_is_not_who_need_not() -> None:
    assert differs("不能付款吗？", "不用付款吗？")
    assert differs("什么人不能献血？", "什么人能不献血？")


def test_an_adjective_may_be_denied_in_two_ways() -> None:
    assert differs("Why is it unavailable?", "Why is it not available?") == ""
