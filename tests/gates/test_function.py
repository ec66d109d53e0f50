"""Words that carry a sentence and not its meaning."""

from __future__ import annotations

import pytest

from gateway.gates._function import TABLE
from tests.gates.questions import differs


def test_what_says_nothing_stands_for_nothing_or_for_oneself() -> None:
    assert {token.gate for read in TABLE.values() for token in read} == {"self"}


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("How do I really pay my bill, please?", "How do I pay a bill?"),
        ("这个订单到底怎么取消呢", "订单怎么取消"),
        ("Is the shop open on Sunday?", "is shop open sunday"),
    ],
)
def test_such_a_word_may_come_and_go(a: str, b: str) -> None:
    assert differs(a, b) == ""


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("中药有副作用吗", "药有副作用吗"),
        ("怎么请假", "怎么放假"),
        ("个税怎么交", "税怎么交"),
        ("Can I get a US visa?", "Can I get a visa?"),
        ("Do you ship to Canada?", "Do you ship in Canada?"),
        ("Can I bank with you?", "Can I bank without you?"),
        ("谁联系我", "我联系谁"),
    ],
)
def test_a_word_that_only_looks_like_one_may_not(a: str, b: str) -> None:
    assert differs(a, b)
