"""The same words in another order."""

from __future__ import annotations

import pytest

from tests.gates.questions import differs


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("How do I get from Rome to Oslo?", "How do I get from Oslo to Rome?"),
        ("Does salt melt ice?", "Does ice melt salt?"),
        ("What causes stress?", "What does stress cause?"),
        ("从北京到上海", "从上海到北京"),
        ("北京到上海多久", "上海到北京多久"),
        ("猫怕狗吗", "狗怕猫吗"),
        ("人被狗咬了", "狗被人咬了"),
        ("不注销能登录吗", "注销不能登录吗"),
        ("买三送一怎么算", "买一送三怎么算"),
        ("狮子怎么捕猎", "怎么捕猎狮子"),
        ("How many cups are in a pint?", "How many pints are in a cup?"),
    ],
)
def test_another_order_is_another_question(a: str, b: str) -> None:
    assert differs(a, b) == "direction"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("怎么重置我的密码", "我的密码怎么重置"),
        ("如何把手机连接电视", "手机怎么连接电视"),
        ("在哪里可以下载税表", "税表在哪里下载"),
        ("为什么我的卡被拒", "我的卡为什么被拒"),
        ("明天北京下雨吗", "北京明天下雨吗"),
        ("How do I renew my pass online?", "How do I renew online my pass?"),
    ],
)
def test_where_nobody_can_be_mistaken_order_is_free(a: str, b: str) -> None:
    assert differs(a, b) == ""
