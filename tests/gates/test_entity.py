"""Names."""

from __future__ import annotations

import pytest

from gateway.gates._entity import named
from tests.gates.questions import differs, told


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("工行怎么转账", ["工商银行"]),
        ("上海市的天气", ["上海"]),
        ("中山路怎么走", ["中山路"]),
        ("华西医院怎么挂号", ["华西医院"]),
        ("张伟老师的课", ["张伟老师"]),
        ("老师的课", []),
        ("银行的路", []),
        ("order A-1024", ["a-1024"]),
        ("《三体》的作者", ["“三体”"]),
        ("mail me@a.com", ["me@a.com"]),
    ],
)
def test_a_name_is_one_token(text: str, wanted: list[str]) -> None:
    assert told("entity", text) == wanted


def test_a_word_with_a_capital_where_none_has_to_be_is_a_name() -> None:
    assert named("Who runs Oracle?", ["oracle"])
    assert named("What is AAPL?", ["aapl"])
    assert not named("Oracles speak", ["oracle"])
    assert not named("WHO RUNS ORACLE", ["oracle"])
    assert not named("who runs oracle", ["oracle"])


def test_a_name_tells_why_two_questions_differ_but_never_makes_them() -> None:
    assert differs("Who runs Oracle?", "Who runs Intel?") == "entity"
    assert differs("who runs oracle?", "who runs intel?") == "content"
    assert differs("Who runs Oracle?", "who runs oracle?") == ""
