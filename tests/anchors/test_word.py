"""`type: word`."""

from __future__ import annotations

import pytest

from tests.anchors.sight import kept, kind, shown

WORD = kind("word")


@pytest.mark.parametrize(
    "text",
    [
        "one| two|  three",
        "年|费|300|元，|好",
        "vLLM|很|快。|对",
        "他|说：|“好”|吧",
        "（注|意）|了",
        "pi is 3.14".replace(" ", "| "),
        "line|\nnext",
    ],
)
def test_words_end_where_a_reader_sees_it(text: str) -> None:
    plain = text.replace("|", "")
    assert shown(WORD, plain) == text


def test_the_cut_keeps_all_words_before_the_finding() -> None:
    assert kept([WORD], "we guarantee big gains", "gains") == ("we guarantee big", "word")


def test_a_word_that_may_grow_has_not_ended() -> None:
    assert WORD.anchors("half", 0, 4) == []
