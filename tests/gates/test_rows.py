"""Tables of words."""

from __future__ import annotations

from gateway.gates._rows import key, rows, table, words
from gateway.gates._text import Token

TEXT = """
turn on, switching on | turn off

买, 购买 | 卖
"""


def test_a_row_has_sides_and_a_side_has_words() -> None:
    assert list(rows(TEXT)) == [[["turn on", "switching on"], ["turn off"]], [["买", "购买"], ["卖"]]]


def test_the_words_of_a_side_are_one_token() -> None:
    read = table("polarity", TEXT)
    assert read["turn on"] == read["switch on"] == (Token("polarity", "turn on"),)
    assert read["购买"] == (Token("polarity", "买"),)
    assert read["卖"] == (Token("polarity", "卖"),)


def test_words_are_looked_up_by_their_lemmas() -> None:
    assert key("switching on") == "switch on"
    assert words(TEXT) == ["turn on", "switch on", "turn off", "买", "购买", "卖"]
