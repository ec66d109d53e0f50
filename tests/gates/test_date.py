"""Dates and times."""

from __future__ import annotations

import pytest

from tests.gates.questions import differs, told


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("March 5, 2023", ["2023-3-5"]),
        ("the 5th of March 2023", ["2023-3-5"]),
        ("5 March 2023", ["2023-3-5"]),
        ("2023-03-05", ["2023-3-5"]),
        ("２０２３／３／５", ["2023-3-5"]),
        ("2023年3月5日", ["2023-3-5"]),
        ("二零二三年三月五号", ["2023-3-5"]),
        ("in May", ["*-5-*"]),
        ("5月份", ["*-5-*"]),
        ("May I pay", []),
        ("apr 12", ["*-4-12"]),
        ("the apr", []),
        ("in 1997", ["1997-*-*"]),
        ("1997 dollars", []),
        ("$1997", []),
        ("六点半", ["6:30"]),
        ("6:30", ["6:30"]),
        ("8 am", ["8:00am"]),
        ("8am", ["8:00am"]),
        ("10:30 p.m.", ["10:30pm"]),
        ("am I late", []),
        ("Q3", ["q3"]),
        ("三季度", ["q3"]),
        ("周一", ["monday"]),
        ("星期天", ["sunday"]),
        ("上周五", ["last week", "friday"]),
        ("今日", ["today"]),
        ("the 1980s", ["80s"]),
        ("八十年代", ["80s"]),
        ("last month", ["last month"]),
        ("上个月", ["last month"]),
        ("三个月", []),
        ("Who was it", ["past"]),
        ("Why was it", []),
    ],
)
def test_a_date_has_one_name(text: str, wanted: list[str]) -> None:
    assert told("date", text) == wanted


def test_two_dates_are_told_apart_however_their_parts_agree() -> None:
    assert differs("Is it open from March 5 to May 8?", "Is it open from March 8 to May 5?") == "date"
    assert differs("Is it open March 5?", "Is it open March 5, 2023?") == "date"


def test_one_date_may_stand_anywhere() -> None:
    assert differs("明天北京天气怎么样", "北京明天天气怎么样") == ""
