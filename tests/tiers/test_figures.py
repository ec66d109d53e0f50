"""Figures in digits and in words; what only looks like a number is none."""

from __future__ import annotations

import pytest

from gateway.tiers._figures import figures


@pytest.mark.parametrize(
    "text",
    [
        "共 3 项",
        "利率为３％",
        "一百二十万元",
        "百分之五",
        "三分之一",
        "约三十人",
        "十五天",
        "二〇二三年",
        "三个月内付清",
        "两年内有效",
        "五日之内",
        "涨了两个百分点",
        "paid in 2021",
        "five percent of all",
        "two hundred people",
        "a million users",
    ],
)
def test_a_figure_is_seen(text: str) -> None:
    assert figures(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "万一下雨怎么办",
        "千万不要忘记",
        "十分感谢",
        "一些人一起去",
        "一般来说没有",
        "三心二意",
        "there is one thing",
        "someone else, often",
        "a weight of tension",
    ],
)
def test_what_only_looks_like_one_is_not(text: str) -> None:
    assert not figures(text)
