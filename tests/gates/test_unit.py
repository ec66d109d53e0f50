"""Units and currencies."""

from __future__ import annotations

import pytest

from gateway.gates import _unit
from gateway.gates._rows import rows
from tests.gates.questions import differs, told


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("5 mg", ["milligram"]),
        ("5mg", ["milligram"]),
        ("5毫克", ["milligram"]),
        ("5 g", ["gram"]),
        ("5克", ["gram"]),
        ("$500", ["usd"]),
        ("500 dollars", ["usd"]),
        ("500美元", ["usd"]),
        ("500块", ["cny"]),
        ("￥500", ["cny"]),
        ("三个月", ["month"]),
        ("3 months", ["month"]),
        ("in pounds", []),
        ("5 pounds", ["gbp"]),
        ("how many miles", ["mile"]),
        ("90 seconds", ["second"]),
        ("the second one", []),
        ("三张卡", []),
        ("三箱牛奶", ["箱"]),
        ("who won", []),
    ],
)
def test_a_unit_has_one_name(text: str, wanted: list[str]) -> None:
    assert told("unit", text) == wanted


def test_letters_that_are_no_unit_make_a_code() -> None:
    assert told("entity", "the 3x lens") == ["3x"]
    assert told("number", "the 3x lens") == []


@pytest.mark.parametrize("text", [_unit._SURE, _unit._BEHIND_A_NUMBER])
def test_no_word_is_two_units(text: str) -> None:
    said = [(word, side[0]) for sides in rows(text) for side in sides for word in side]
    assert len(dict(said)) == len(set(said))


def test_an_amount_has_a_unit_wherever_its_sign_stands() -> None:
    assert differs("Can I pay $500?", "Can I pay 500 dollars?") == ""
    assert differs("Can I pay $500?", "Can I pay £500?") == "unit"
