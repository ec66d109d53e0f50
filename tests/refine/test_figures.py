"""Figures that a person would look up, in both languages."""

from __future__ import annotations

import pytest

from gateway.refine.caution import spans


def found(text: str) -> list[tuple[str, str]]:
    return [(text[span.start : span.end], span.kind) for span in spans(text)]


@pytest.mark.parametrize(
    "amount",
    [
        *("$5", "$1,250.50", "US$5 billion", "€3.5 million", "¥30", "USD 400", "400 dollars", "five million dollars"),
        *(
            "5元",
            "3.5万元",
            "人民币300万元",
            "五百万元",
            "二十亿美元",
            "100块钱",
            "壹佰万元整",
            "1,200.00元",
            "￥99",
            "HK$12",
        ),
    ],
)
def test_money(amount: str) -> None:
    assert found(f"费用是 {amount} 。") == [(amount, "money")]
    assert found(f"It is {amount} in all.") == [(amount, "money")]


@pytest.mark.parametrize(
    "share",
    [
        *("5%", "3.85%", "5-10%", "5%-10%", "20 percent", "twenty percent", "50 basis points", "25bps", "5％", "2‰"),
        *("百分之五", "百分之十二点五", "千分之三", "25个基点", "1.5个百分点"),
    ],
)
def test_percent(share: str) -> None:
    assert found(f"约为 {share} ，请注意。") == [(share, "percent")]
    assert found(f"It is {share}, mind.") == [(share, "percent")]


def test_tenths_are_a_share_but_no_word_that_looks_like_them() -> None:
    assert found("约三成的用户") == [("三成", "percent")]
    assert found("三成员") == []


@pytest.mark.parametrize(
    "date",
    [
        *(
            "2020年",
            "2020年3月",
            "2020年3月1日",
            "2020年度",
            "2021年第三季度",
            "二〇二〇年五月一日",
            "3月15日",
            "十月一日",
        ),
        *("公元前221年", "20世纪80年代", "2023-01-15", "2023/1/15", "2023.1.15", "2023 Q3", "Q3 2023", "1990s"),
        *("March 5, 2023", "5 March 2023", "March 2023", "Mar. 5", "the 19th century"[4:], "10:30 am", "23:59"),
    ],
)
def test_dates(date: str) -> None:
    assert found(f"时间： {date} ，请核对。") == [(date, "date")]
    assert found(f"It was {date}, mind.") == [(date, "date")]


def test_a_year_alone_is_a_date_and_a_count_of_that_size_is_none() -> None:
    assert found("It was founded in 1998.") == [("1998", "date")]
    assert found("From 2019-2023 it grew") == [("2019-2023", "date")]
    assert found("It has 2000 users.") == [("2000 users", "number")]
    assert found("共有2000人") == [("2000人", "number")]


@pytest.mark.parametrize(
    "number",
    [
        *("5 kg", "5kg", "3.5 GB", "100 km/h", "7 business days", "30-day", "thirty days", "3 million users", "25℃"),
        *(
            "30天",
            "三十天",
            "6个月",
            "三个工作日",
            "10人",
            "12家",
            "5分钟",
            "100公里",
            "一百二十万",
            "5万",
            "3至5年",
            "两年",
        ),
        *("1,234,567", "12.5", "400-820-8820", "3/4"),
    ],
)
def test_numbers(number: str) -> None:
    assert found(f"需要 {number} 。") == [(number, "number")]
    assert found(f"It takes {number}, mind.") == [(number, "number")]


@pytest.mark.parametrize(
    "text",
    [
        "这是一个问题，一般来说统一处理，万一出错千万别着急，十分感谢。",
        "第一，打开设置。第二步，点击确定。",
        "One of the best ways is to ask someone.",
        "He has 5 cats.",
        "二话不说，三心二意。",
    ],
)
def test_what_only_looks_like_a_number_is_none(text: str) -> None:
    assert found(text) == []
