"""Runs of words of question and answer have weights of their own; any text has a number."""

from __future__ import annotations

import numpy as np
import pytest

from classifiers.phrases import PLACES, Phrases, places
from classifiers.reading import Asked
from tests.classifiers.answers import ODD


def test_question_and_answer_are_told_apart() -> None:
    nothing, question, answer = (
        places(asked) for asked in (Asked("", "", ""), Asked("a b", "", ""), Asked("", "", "a b"))
    )
    assert (len(nothing), len(question), len(answer)) == (3, 3 + 3, 4 + 3 + 2)
    assert (set(question) - set(nothing)).isdisjoint(answer)


def test_the_number_is_the_mean_of_the_weights() -> None:
    asked = Asked("谁", "", "不是 Otto")
    weights = np.zeros(PLACES, np.float16)
    weights[places(asked)] = 2
    assert Phrases(weights).number(asked) == 2
    assert -0.1 < Phrases(weights).number(Asked("", "", "something else entirely")) < 1


def test_a_context_is_not_looked_at() -> None:
    assert places(Asked("a", "b", "c")).tolist() == places(Asked("a", "", "c")).tolist()


def test_another_number_of_weights_is_refused() -> None:
    with pytest.raises(ValueError, match="weights expected"):
        Phrases(np.zeros(3))


@pytest.mark.parametrize("text", [text for text in ODD if text != "\ud800"], ids=lambda text: repr(text[:9]))
def test_every_text_has_a_number(text: str) -> None:
    assert Phrases(np.ones(PLACES)).number(Asked(text, text, text)) == 1
