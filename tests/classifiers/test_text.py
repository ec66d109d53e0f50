"""One question typed in many ways has one normal form, and every word of it still counts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifiers import lists, text
from classifiers.text import MOST, OWN, SINGLE, VOCABULARY, clean, grams, normal, words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("How do I get a refund?", "  how do I get a REFUND!! "),
        ("Ｒｅｆｕｎｄ　ｐｌｅａｓｅ", "refund please"),
        ("怎么退款？", "怎么退款"),
        ("怎么退款，谢谢。", "怎么退款,谢谢."),
        ("“book” — a table", '"book" - a table'),
        ("re\u200bfund", "refund"),
    ],
)
def test_case_width_and_marks_do_not_matter(one: str, other: str) -> None:
    assert clean(one) == clean(other)


@pytest.mark.parametrize(
    ("polite", "plain"),
    [
        ("请问怎么退款？谢谢", "怎么退款"),
        ("could you please tell me how to cancel my order", "tell how cancel order"),
        ("你好，请帮我查一下余额呢", "查余额"),
    ],
)
def test_politeness_is_no_part_of_the_normal_form(polite: str, plain: str) -> None:
    assert normal(polite) == normal(plain)


@pytest.mark.parametrize("negation", ["not", "no", "never", "don't", "不", "没", "无", "别"])
def test_a_negation_is_never_left_out(negation: str) -> None:
    assert negation in words(f"refund {negation} today")


@pytest.mark.parametrize("question", ["how", "what", "when", "where", "why", "who", "怎么", "什么", "为什么", "哪里"])
def test_a_question_word_is_never_left_out(question: str) -> None:
    assert normal(f"{question} refund") != normal("refund")


def test_a_text_of_nothing_but_small_words_keeps_them() -> None:
    assert words("to be or to be") == ["to", "be", "or", "to", "be"]


def test_chinese_is_cut_into_characters_and_the_rest_into_words() -> None:
    assert words("T+0交割 don't 3.5%") == ["t+0", "交", "割", "don't", "3.5"]


@given(st.text())
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    assert clean(clean(text)) == clean(text)


@given(st.text(st.characters()))
def test_any_text_has_a_form_that_can_be_sent_and_ids_in_range(text: str) -> None:
    clean(text).encode()
    ids = grams(text)
    assert ids.dtype == np.int32
    assert ((ids >= 0) & (ids < VOCABULARY)).all()


@pytest.mark.parametrize("text", ["", " ", "?!", "\n\n", "\ud800", "\u200b"])
def test_a_text_without_a_word_has_no_grams(text: str) -> None:
    assert len(grams(text)) == 0


def test_half_a_surrogate_pair_is_passed_over() -> None:
    assert clean("re\udc00fund") == "refund"


def test_only_the_beginning_of_a_very_long_text_is_looked_at() -> None:
    start = "退款" * (MOST // 2)
    assert clean(start + "x" * 1_000_000) == start


@pytest.mark.parametrize(("window", "runs"), [(1, 0), (2, 2), (3, 3), (9, 3)])
def test_grams_are_words_and_all_runs_up_to_the_window(window: int, runs: int) -> None:
    ids = grams("斑 马 鹿", window)
    assert (ids < SINGLE).sum() == 3
    assert (ids >= SINGLE).sum() == runs


def test_the_fingerprint_tells_of_a_change_in_what_ids_are_made_of(monkeypatch: pytest.MonkeyPatch) -> None:
    before = text.fingerprint.__wrapped__()
    assert text.fingerprint() == before
    monkeypatch.setattr(text, "SINGLE", SINGLE - 1)
    after = text.fingerprint.__wrapped__()
    monkeypatch.setattr(lists, "everything", lambda: "other lists")
    assert len({before, after, text.fingerprint.__wrapped__()}) == 3


def test_what_repeats_counts_once() -> None:
    assert grams("zebra zebra zebra", 1).tolist() == grams("zebra", 1).tolist()


def test_words_of_one_stem_share_an_id() -> None:
    assert len(set(grams("cancelled", 1)) & set(grams("cancelling", 1))) == 1


@pytest.mark.parametrize("domain", lists.DOMAINS)
def test_each_term_of_the_lists_has_an_id_of_its_own(domain: str) -> None:
    nameless = [term for term in lists.terms(domain) if not (grams(term) < OWN).any()]
    assert nameless == []


def test_other_words_have_none() -> None:
    assert not (grams("zebra quilt violin") < OWN).any()
    assert (grams("my T+0 zebra") < OWN).sum() == 1
