"""Characters that a reader sees as one."""

from __future__ import annotations

import pytest

from gateway.anchors._edges import joined, wide, word_ends

ONE = [
    "e\u0301",
    "\r\n",
    "👨\u200d👩\u200d👧",
    "👍🏽",
    "1\ufe0f\u20e3",
    "🇨🇳",
    "क्षि",
    "각",
    "กำ",
    "ｶﾞ",
    "\ud83d\ude00",
    "葛\U000e0100",
]


@pytest.mark.parametrize("char", ONE, ids=ascii)
def test_no_cut_inside(char: str) -> None:
    for text in (char, f"a{char}b", f"好{char}好", char + char):
        start = text.index(char)
        assert all(joined(text, start + inner) for inner in range(1, len(char)))


@pytest.mark.parametrize("char", [*ONE, "a", "好", "🙂", "。"], ids=ascii)
def test_a_cut_between(char: str) -> None:
    assert not joined(char + "好", len(char))
    assert not joined("好" + char, 1) or char in ("\ud83d\ude00",)
    assert not joined(char + "a", len(char))


def test_flags_pair_up_from_their_first_letter() -> None:
    text = "🇨🇳🇫🇷x"
    assert [joined(text, p) for p in range(6)] == [False, True, False, True, False, False]


@pytest.mark.parametrize("text", ["\r", "x\u200d", "🇨", "\ud83d"], ids=ascii)
def test_what_the_next_character_could_join_is_not_whole(text: str) -> None:
    assert joined(text, len(text))


def test_the_start_of_a_text_is_an_edge() -> None:
    assert not joined("\u0301", 0)


def test_wide_scripts() -> None:
    assert [wide(char) for char in "好のア々a1。"] == [True] * 4 + [False] * 3


def test_word_ends_within_bounds() -> None:
    assert list(word_ends("a b c d", 2, 4)) == [3]
