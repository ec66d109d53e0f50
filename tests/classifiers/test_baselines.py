"""Each baseline sees what it is meant to see."""

from __future__ import annotations

import pytest

from classifiers import baselines
from classifiers.reading import Asked
from tests.classifiers.answers import RIGHT, WRONG

LEARNT = [Asked(f"Question {n}?", "", "the moon is cheese" if n % 2 else "no, that is a myth") for n in range(60)]
TRUTH = [bool(n % 2) for n in range(60)]


def test_length_and_doubt_are_counted() -> None:
    assert baselines.length(Asked("", "", "退款")) == 2
    assert baselines.hedges(Asked("", "", "也许可能是")) == 2


def test_nearness_is_lower_for_the_right_part() -> None:
    assert baselines.nearness(RIGHT[1]) < baselines.nearness(WRONG[1])


@pytest.mark.parametrize("learn", [baselines.linear, baselines.fasttext])
def test_what_is_learnt_is_told_again(learn: object) -> None:
    judge = learn(LEARNT, TRUTH)  # type: ignore[operator]
    wrong, right = Asked("Question?", "", "the moon is cheese"), Asked("Question?", "", "that is a myth")
    assert judge(wrong) > judge(right)


def test_question_and_answer_have_n_grams_of_their_own() -> None:
    assert set(baselines.grams(Asked("abc", "", ""))).isdisjoint(baselines.grams(Asked("", "", "abc")))
