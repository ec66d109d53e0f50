"""The plain form of a question."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.gates._text import language, plain


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("  How  do I\tPAY?! ", "how do i pay"),
        ("Ｈｏｗ　ｍｕｃｈ？", "how much"),
        ("怎么\u200b退款？", "怎么退款"),
        ("Don’t “quote” – me", 'don\'t "quote" - me'),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("cafe\u0301", "café"),
        ("，。！？", ""),
    ],
)
def test_texts_that_look_alike_are_alike(text: str, wanted: str) -> None:
    assert plain(text) == wanted


@given(st.text())
def test_character_by_character_is_as_good_as_all_at_once(text: str) -> None:
    known = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    assert plain(known) == plain(text)


@given(st.text())
def test_a_plain_text_is_plain(text: str) -> None:
    assert plain(plain(text)) == plain(text)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("how", "en"),
        ("怎么", "zh"),
        ("apr是什么", "zh"),
        ("カード", "ja"),
        ("漢字カード", "zh+ja"),
        ("как", "ru"),
        ("", "en"),
    ],
)
def test_the_scripts_of_a_text(text: str, wanted: str) -> None:
    assert language(text) == wanted
