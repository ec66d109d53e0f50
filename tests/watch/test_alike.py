"""ROUGE-L: what it counts, in which language, and that it is a measure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.watch.alike import MOST, rouge_l, words

TEXT = st.text(alphabet="ab c,日本 語。\nÄ9", max_size=60)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cat sat.", ["the", "cat", "sat"]),
        ("退款政策，7天。", ["退", "款", "政", "策", "7", "天"]),
        ("用 Python3 写的 web服务", ["用", "python3", "写", "的", "web", "服", "务"]),
        ("snake_case it's", ["snake", "case", "it", "s"]),
        ("カタ、かな", ["カ", "タ", "か", "な"]),
        (" .,!？…", []),
    ],
)
def test_what_is_compared_of_a_text(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        # Lin's own example: of four words each, three in this order (police the gunman), then two (the gunman).
        ("police killed the gunman", "police kill the gunman", 3 / 4),
        ("police killed the gunman", "the gunman kill police", 2 / 4),
        ("a b c d", "a b", 2 * 2 / 6),
        ("七天内可以退款", "七天内不可以退款", 2 * 7 / 15),
        ("", "", 1.0),
        ("...", "", 1.0),
        ("word", "", 0.0),
    ],
)
def test_how_alike(one: str, other: str, expected: float) -> None:
    assert rouge_l(one, other) == pytest.approx(expected)


@given(TEXT, TEXT)
def test_it_is_symmetric_and_between_0_and_1(one: str, other: str) -> None:
    assert 0 <= rouge_l(one, other) == rouge_l(other, one) <= 1


@given(TEXT)
def test_a_text_is_wholly_like_itself_whatever_its_case_and_punctuation(text: str) -> None:
    assert rouge_l(text, text) == 1
    assert rouge_l(text, text.upper().replace(",", " . ")) == 1


@given(TEXT, TEXT, TEXT)
def test_more_in_common_is_never_less_alike(one: str, other: str, shared: str) -> None:
    longest = max(len(words(one)), len(words(other)))
    common = words(shared)
    more = rouge_l(f"{one} {shared}", f"{other} {shared}")
    assert more >= 2 * len(common) / (2 * len(common) + 2 * longest or 1) - 1e-9


def test_a_very_long_answer_is_compared_from_its_beginning() -> None:
    long = "same " * MOST
    assert len(words(long + "more")) == MOST
    assert rouge_l(long + "one", long + "other") == 1
