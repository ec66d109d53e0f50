"""Corrections put into an answer: once each, and nothing else changes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.refine.edits import edited, marks, sane
from gateway.types import Correction

ANSWER = "The rate is 4.75% a year, paid in March. The fee is 20 euros."
RATE = Correction("4.75%", "5.75%", "the offer")
FEE = Correction("20 euros", "25 euros", "the price list")


def test_a_clean_text_shows_nothing_of_it() -> None:
    done = edited(ANSWER, (FEE, RATE), False, "en")
    assert done.text == "The rate is 5.75% a year, paid in March. The fee is 25 euros."
    assert done.made == (RATE, FEE)
    assert done.dropped == ()


def test_a_marked_text_says_where_and_why() -> None:
    text = edited(ANSWER, (RATE,), True, "en").text
    assert text.startswith("The rate is [corrected]5.75% a year")
    assert "“4.75%” now reads “5.75%”; evidence: the offer" in text
    zh = edited("年利率为4.75%。", (Correction("4.75%", "5.75%", "产品说明书"),), True, "zh").text
    assert zh.startswith("年利率为【修正】5.75%。")
    assert "依据：产品说明书" in zh


@pytest.mark.parametrize(
    ("correction", "fate"),
    [
        (Correction("6.75%", "5.75%", "e"), "not_found"),
        (Correction("the RATE", "a rate", "e"), "not_found"),
        (Correction("a", "b", "e"), "ambiguous"),
    ],
)
def test_what_is_not_there_once_is_not_corrected(correction: Correction, fate: str) -> None:
    done = edited(ANSWER, (correction,), True, "en")
    assert done.text == ANSWER
    assert done.dropped == (fate,)


def test_of_two_that_overlap_the_first_is_made() -> None:
    done = edited(ANSWER, (RATE, Correction("rate is 4.75% a", "rate was 3% a", "e")), False, "en")
    assert done.made == (RATE,)
    assert done.dropped == ("ambiguous",)


def test_overlapping_occurrences_are_seen() -> None:
    assert edited("aaa", (Correction("aa", "b", "e"),), False, "en").dropped == ("ambiguous",)


@pytest.mark.parametrize(
    ("clean", "good"),
    [("x" * 100, True), ("x" * 50, True), ("x" * 49, False), ("x" * 201, False), ("", False), (" " * 100, False)],
)
def test_a_text_of_another_length_is_no_correction(clean: str, good: bool) -> None:
    assert sane("y" * 100, clean) is good


def test_marks_of_both_languages_count() -> None:
    assert marks("【修正】a [corrected] b 【修正】") == 3
    assert marks("nothing") == 0


@given(st.text(min_size=1, max_size=60), st.data())
def test_all_else_stays_as_it_was(answer: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(answer) - 1))
    end = data.draw(st.integers(start + 1, len(answer)))
    one = Correction(answer[start:end], data.draw(st.text(min_size=1, max_size=9)), "e")
    done = edited(answer, (one,), False, "en")
    if done.made:
        assert done.text == answer.replace(one.quote, one.fixed)
    else:
        assert done.text == answer
