"""The plain form of a text, and where each of its characters came from."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.checks._fold import fold

ODD = "aBｂⓒ炸İßΣﬃ㎏e\u0301\u200b\ufeff\u00ad\u0000👩‍👩‍👧ς𝐛ｶﾞ"
TEXTS = st.text(st.one_of(st.sampled_from(ODD), st.characters(codec="utf-8")), max_size=12)


@pytest.mark.parametrize(
    "disguised",
    [
        "BOMB",
        "ｂｏｍｂ",
        "ＢＯＭＢ",
        "b\u200bo\u200cm\u200db",
        "\ufeffbomb",
        "bo\u00admb",
        "𝐛𝐨𝐦𝐛",
        "ⓑⓞⓜⓑ",
        "bo\u0301mb",
    ],
)
def test_disguises_of_one_word_look_alike(disguised: str) -> None:
    assert fold(disguised)[0] == "bomb"


@pytest.mark.parametrize("plain", ["bomb 炸弹", "，。！？", "\x00\t\n", "é ü ñ", "кот", "コード", "한국"])
def test_plain_text_stays_as_it_is(plain: str) -> None:
    assert fold(plain)[0] == plain


def test_a_folded_character_knows_where_it_came_from() -> None:
    plain, origin = fold("x\u200bﬃy")
    assert plain == "xffiy"
    assert list(origin) == [0, 2, 2, 2, 3, 4]


@given(TEXTS)
def test_origins_never_fall_and_end_at_the_text_s_end(text: str) -> None:
    plain, origin = fold(text)
    assert len(origin) == len(plain) + 1
    assert list(origin) == sorted(origin)
    assert origin[-1] == len(text)


@given(TEXTS, TEXTS)
def test_a_text_folds_the_same_however_it_is_cut(left: str, right: str) -> None:
    first, origin_first = fold(left)
    second, origin_second = fold(right)
    plain, origin = fold(left + right)
    assert plain == first + second
    assert list(origin) == [*list(origin_first)[:-1], *(len(left) + place for place in origin_second)]
