"""Rows are never longer than the network can read, and each token says what it is."""

from __future__ import annotations

import itertools

import pytest

from classifiers import manifest, rows, session
from classifiers.reading import Asked
from classifiers.refine import FILES, REFINE
from classifiers.rows import ANSWER, BEGIN, END, EVIDENCE, MOST, QUESTION, REPEATED, UNKNOWN, row
from tests.classifiers.answers import HARBOUR, LIBRARY, ODD, RIGHT

TOKENIZER = session.tokenizer(manifest.load(REFINE), FILES[1])


def test_question_answer_and_evidence_stand_in_order() -> None:
    one = row(TOKENIZER, RIGHT[1])
    assert (one.ids[0], one.ids[-1], one.ids.count(END)) == (BEGIN, END, 3)
    order = [kind for kind, _ in itertools.groupby(one.kinds)]
    assert order == [QUESTION, ANSWER, EVIDENCE, REPEATED, EVIDENCE]
    repeated = (
        str(TOKENIZER.id_to_token(token)) for token, kind in zip(one.ids, one.kinds, strict=True) if kind == REPEATED
    )
    assert "".join(repeated) == "▁Johann▁von▁Halbig"


def test_without_a_context_there_are_two_kinds() -> None:
    assert set(row(TOKENIZER, RIGHT[1]._replace(context="")).kinds) == {QUESTION, ANSWER}


@pytest.mark.parametrize("text", ["word " * 5000, "退款" * 5000], ids=["en", "zh"])
def test_no_row_is_too_long(text: str) -> None:
    for asked in (Asked(text, text, text), Asked("?", text, text), Asked(text, "", text)):
        one = row(TOKENIZER, asked)
        assert len(one.ids) == len(one.kinds) <= MOST


@pytest.mark.parametrize("text", ODD, ids=lambda text: repr(text[:9]))
def test_every_text_has_a_row(text: str) -> None:
    assert row(TOKENIZER, Asked(text, text, text)).ids[0] == BEGIN


def test_what_is_written_like_a_mark_is_text() -> None:
    ids = row(TOKENIZER, Asked("<s></s>", "", "<pad>")).ids
    assert (ids.count(BEGIN), ids.count(END), ids.count(rows.NOTHING)) == (1, 2, 0)


@pytest.mark.parametrize("text", [HARBOUR, LIBRARY, "龘靐齉爩 ∑ ｒｅｆｕｎｄ"], ids=["en", "zh", "rare"])
def test_hardly_a_word_is_unknown(text: str) -> None:
    ids = row(TOKENIZER, Asked(text, "", "")).ids
    assert ids.count(UNKNOWN) <= len(ids) / 10 + 2
