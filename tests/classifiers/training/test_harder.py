"""Hard swaps are of the right one's kind, and of its sentence where that is said."""

from __future__ import annotations

from classifiers.training.cases import Case
from classifiers.training.harder import ANYWHERE, SAME_SENTENCE, harder
from tests.classifiers.answers import HARBOUR, RIGHT, WRONG

CASES = [
    Case(RIGHT[0]._replace(answer="Lindau"), False, "xquad-spanswap.en", "test", "a"),
    Case(WRONG[0], True, "xquad-spanswap.en", "test", "a"),
    Case(RIGHT[0]._replace(answer="1811"), False, "truthfulqa-judge.en", "test", "b"),
]


def test_each_right_part_gets_a_wrong_one_like_it() -> None:
    made = list(harder(CASES))
    assert [(case.source.split(".")[0], case.wrong) for case in made] == [
        (ANYWHERE, False), (ANYWHERE, True), (SAME_SENTENCE, False), (SAME_SENTENCE, True),
    ]  # fmt: skip
    right, wrong, _, near = (case.asked.answer for case in made)
    assert (right, near) == ("Lindau", "Bavarian")
    assert wrong != right
    assert wrong in HARBOUR
    assert {case.asked.context for case in made} == {HARBOUR}


def test_they_are_the_same_each_time() -> None:
    assert list(harder(CASES)) == list(harder(CASES))
