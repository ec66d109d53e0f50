"""Numbers."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.gates._number import chinese
from tests.gates.questions import differs, told


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("3,500 users", ["3500"]),
        ("三千五百个用户", ["3500"]),
        ("３５００人", ["3500"]),
        ("3.50", ["3.5"]),
        ("twenty-five users", ["25"]),
        ("one hundred and five users", ["105"]),
        ("two million users", ["2000000"]),
        ("a dozen eggs", ["12"]),
        ("two dozen eggs", ["24"]),
        ("half of it", ["0.5"]),
        ("半片药", ["0.5"]),
        ("5k users", ["5000"]),
        ("3万人", ["30000"]),
        ("3.5万人", ["35000"]),
        ("二百五十万人", ["2500000"]),
        ("25 percent", ["25%"]),
        ("25%", ["25%"]),
        ("百分之二十五", ["25%"]),
        ("百分之25", ["25%"]),
        ("the third one", ["3th", "1"]),
        ("第三章", ["3th"]),
        ("第3章", ["3th"]),
        ("the 3rd row", ["3th"]),
        ("twenty-first row", ["21th"]),
        ("v2.1", ["v2.1"]),
        ("from 20 to 25", ["20", "25"]),
        ("统一一下", []),
        ("一般十分安全", []),
        ("no one", []),
        ("90 seconds", ["90"]),
    ],
)
def test_a_number_has_one_name(text: str, wanted: list[str]) -> None:
    assert told("number", text) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("一千五", 1500),
        ("两万三", 23000),
        ("一百零五", 105),
        ("二零二三", 2023),
        ("三亿五千万", 350000000),
        ("十", 10),
        ("一千零五十", 1050),
    ],
)
def test_chinese_numerals_have_a_value(text: str, wanted: int) -> None:
    assert chinese(text) == wanted


@pytest.mark.parametrize("text", ["", "点五", "十x", "好", "一点百", "一" * 99])
def test_what_is_no_numeral_has_none(text: str) -> None:
    assert chinese(text) is None


def spelled(number: int) -> str:
    """A number below ten thousand in Chinese."""
    said, gap = "", False
    for scale, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // scale % 10
        if digit:
            said += ("零" if gap and said else "") + "零一二三四五六七八九"[digit] + name
        gap = not digit
    return said or "零"


@given(st.integers(0, 9999))
def test_every_number_is_what_it_says_in_chinese(number: int) -> None:
    assert chinese(spelled(number)) == Decimal(number)


@given(st.integers(1, 10**60))
def test_a_number_of_any_length_is_read_exactly(number: int) -> None:
    assert differs(f"Is {number} prime?", f"Is {number + 1} prime?")
    assert differs(f"Is {number} prime?", f"is {number} prime") == ""


def test_the_order_of_numbers_is_part_of_the_question() -> None:
    assert differs("Is 3 of 5 enough?", "Is 5 of 3 enough?") == "direction"
    assert differs("80的5%是多少", "80是多少的5%") == "direction"
