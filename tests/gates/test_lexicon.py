"""Where Chinese text is cut, and what words stand for."""

from __future__ import annotations

import itertools

import pytest

from gateway.gates import _asked, _comparative, _date, _entity, _function, _negation, _polarity, _synonyms, _unit
from gateway.gates._lexicon import cut, understood
from gateway.gates._text import RAW, Token

TABLES = {
    module.__name__: module.TABLE
    for module in (_asked, _comparative, _date, _entity, _function, _negation, _polarity, _synonyms, _unit)
}


@pytest.mark.parametrize(
    "wanted",
    [
        "怎么 重置 密码",
        "能不能 用 支付宝 付款",
        "不得不 买 不锈钢 锅",
        "一千五百万 元",
        "三十 分钟",
        "十分 安全",
        "第一章",
        "第二季度 营收",
        "周一 一个 人",
        "把 手机 连接 电视",
        "百分之五 点",
        "三 星期",
        "双十一 前",
    ],
)
def test_a_text_is_cut_where_its_words_end(wanted: str) -> None:
    parts = [part for part in cut(wanted.replace(" ", "")) if part]
    assert "".join(parts) == wanted.replace(" ", "")
    assert {word for word in wanted.split() if len(word) > 1} - {"第一章", "营收"} <= set(parts)


def test_nothing_is_lost_in_cutting() -> None:
    for length in range(1, 5):
        for chars in itertools.product("不得一万的第半百分之", repeat=length):
            assert "".join(cut("".join(chars))) == "".join(chars)


def test_the_longest_phrase_is_what_is_meant() -> None:
    words = [Token(RAW, word) for word in ("turn", "off", "at", "least", "off")]
    assert understood(words) == [Token("polarity", "turn off"), Token("comparative", "at least"), Token(RAW, "off")]


def test_a_preposition_before_a_verb_says_nothing() -> None:
    assert understood([Token(RAW, "to"), Token(RAW, "fly")]) == [Token(RAW, "fly")]
    assert understood([Token(RAW, "to"), Token(RAW, "paris")]) == [Token(RAW, "to"), Token(RAW, "paris")]


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(TABLES, 2)))
def test_no_word_is_in_two_tables(one: str, other: str) -> None:
    assert set(TABLES[one]) & set(TABLES[other]) <= {"whether"}
