"""Where a question leaves open what it asks for."""

from __future__ import annotations

import pytest

from gateway.gates._slots import slotted
from gateway.gates._text import Token
from tests.gates.questions import differs

WHAT, EAT, GRASS = Token("wh", "what"), Token("content", "吃"), Token("content", "草")
SLOT = Token("slot", "")


def test_a_slot_at_the_start_says_something_only_in_chinese() -> None:
    assert slotted([WHAT, EAT, GRASS], True) == [SLOT, EAT, GRASS]
    assert slotted([WHAT, EAT, GRASS], False) == [EAT, GRASS]


def test_a_slot_before_the_last_thing_is_one_behind_it() -> None:
    assert slotted([EAT, WHAT, GRASS], True) == slotted([EAT, GRASS, WHAT], True) == [EAT, GRASS]


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("什么动物吃草？", "动物吃什么草？"),
        ("多少学生有手机？", "学生有多少手机？"),
        ("哪些人能借书？", "人能借哪些书？"),
        ("谁想买我的车？", "我想买谁的车？"),
    ],
)
def test_another_slot_is_another_question(a: str, b: str) -> None:
    assert differs(a, b)


def test_a_name_may_stand_on_both_sides_of_is() -> None:
    assert differs("巴西总统是谁？", "谁是巴西总统？") == ""
    assert differs("什么是机器学习？", "机器学习是什么？") == ""
