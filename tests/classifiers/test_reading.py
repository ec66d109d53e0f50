"""The evidence is where the answer and the question's words stand; nothing that a client may send breaks it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from classifiers.reading import EVIDENCE, FEATURES, MOST, NEARNESS, Asked, doubts, language, read, sentences, words
from tests.classifiers.answers import HARBOUR, LIBRARY, ODD, RIGHT, WRONG


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("怎么退款？", "zh"),
        ("GPT-4 和 Claude 哪个好", "zh"),
        ("何時出發", "zh"),
        ("How do I get a refund?", "en"),
        ("The word 退 is Chinese", "en"),
        ("", "en"),
        ("42", "en"),
    ],
)
def test_the_language_is_that_of_most_of_the_text(text: str, expected: str) -> None:
    assert language(text) == expected


def test_chinese_is_cut_into_characters_and_numbers_stay_whole() -> None:
    assert words("退款3.5% in June") == ["退", "款", "3.5", "in", "june"]


def test_words_of_doubt_are_counted_in_both_languages() -> None:
    assert [doubts("可能大概是"), doubts("It may be, perhaps."), doubts("It is.")] == [2, 2, 0]


@pytest.mark.parametrize("asked", [*RIGHT, *WRONG], ids=lambda asked: asked.answer)
def test_the_answer_is_found_and_marked(asked: Asked) -> None:
    evidence = read(asked).evidence
    assert asked.answer.lower() in [evidence.text[start:end].lower() for start, end in evidence.marks]
    assert len(evidence.text) <= EVIDENCE[language(asked.context)] + 200


def test_an_answer_in_a_sentence_is_found_by_its_words() -> None:
    evidence = read(RIGHT[1]._replace(answer="I believe that it was made by Johann von Halbig.")).evidence
    assert "Johann von Halbig" in [evidence.text[start:end] for start, end in evidence.marks]


def test_of_two_places_the_one_near_the_question_is_taken() -> None:
    context = "Anna was born in 1950. " + "Nothing happened. " * 60 + "The bridge was built in 1950 by Otto."
    text = read(Asked("When was the bridge built?", context, "1950")).evidence.text
    assert "bridge was built in 1950" in text


def test_the_right_part_is_nearer_to_the_question_than_another() -> None:
    nearer = [
        read(right).features[NEARNESS] > read(wrong).features[NEARNESS]
        for right, wrong in zip(RIGHT, WRONG, strict=True)
    ]
    assert sum(nearer) >= 5


def test_a_number_that_the_context_lacks_is_seen() -> None:
    def told(answer: str) -> float:
        return float(read(Asked("When was it dug?", HARBOUR, answer)).features[10])

    assert (told("It was dug in 1811"), told("It was dug in 1911")) == (0, 1)


def test_without_a_context_there_is_no_evidence_and_nothing_is_said_of_one() -> None:
    reading = read(RIGHT[0]._replace(context=" \n"))
    assert reading.evidence.text == ""
    assert not reading.features[6:].any()


def test_sentences_cover_the_text_and_long_ones_are_cut() -> None:
    for text, longest in ((HARBOUR, 50), (LIBRARY, MOST), ("no end", 2)):
        spans = list(sentences(text, longest))
        assert "".join(text[start:end] for start, end in spans) == text
        assert max(end - start for start, end in spans) <= longest


def test_a_long_context_is_read_only_so_far() -> None:
    far = "word. " * (MOST // 6) + "The bridge was built in 1950."
    assert "bridge" not in read(Asked("When was the bridge built?", far, "1950")).evidence.text


@pytest.mark.parametrize(("one", "other"), [*itertools.product(ODD, ("", "退款 refund 3", "x" * 50_000))])
def test_nothing_breaks_it(one: str, other: str) -> None:
    for asked in (Asked(one, other, one), Asked(other, one, other), Asked(one, one, other)):
        features = read(asked).features
        assert features.shape == (FEATURES,)
        assert np.isfinite(features).all()
