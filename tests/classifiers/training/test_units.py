"""Units hold a wrong and a right answer to one question; nothing of dev or test is ever among them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from classifiers.reading import Asked
from classifiers.training import cases, units
from classifiers.training.cases import Case
from classifiers.training.units import Unit, alike, grounded, plain, questions
from tests.classifiers.answers import HARBOUR, LIBRARY, RIGHT, write_answers


@pytest.fixture
def everything(tmp_path: Path) -> list[Case]:
    write_answers(tmp_path)
    return cases.load(tmp_path)


def all_of(made: Sequence[Unit]) -> list[Asked]:
    return [asked for unit in made for asked in unit if asked is not None]


def test_answers_to_one_question_are_paired(everything: list[Case]) -> None:
    made = list(plain(everything, 1, np.random.default_rng(1)))
    assert made
    for unit in made:
        assert unit.wrong is not None
        assert unit.right is not None
        assert unit.wrong.question == unit.right.question


def test_an_answer_without_its_like_stands_alone() -> None:
    some = [Case(Asked("?", "", str(n)), n == 0, "halluqa-ref.zh", "train", "g") for n in range(3)]
    made = list(plain(some, 1, np.random.default_rng(1)))
    assert sorted((unit.wrong is None, unit.right is None) for unit in made) == [(False, False), (True, False)]


def test_nothing_of_dev_or_test_and_no_shortcut_is_learnt(everything: list[Case]) -> None:
    random = np.random.default_rng(2)
    learnt = [*all_of(list(plain(everything, 1, random))), *all_of(list(grounded(questions(everything), random)))]
    assert learnt
    assert {asked.question.split(":")[0].split()[-1] for asked in learnt} == {"train"}
    assert not any(source.startswith(cases.SHORTCUTS) for source in units.LARGE + units.SMALL)


def test_small_sources_are_shown_as_often_as_wanted() -> None:
    some = [Case(Asked("?", "", name), False, name, "train", "g") for name in (units.SMALL[0], units.LARGE[0])]
    shown = [asked.answer for asked in all_of(list(plain(some, 3, np.random.default_rng(1))))]
    assert sorted(shown) == sorted([units.SMALL[0]] * 3 + [units.LARGE[0]])


def test_the_wrong_part_is_never_the_right_one() -> None:
    asked = [units.Question(right, ("another",)) for right in RIGHT]
    random = np.random.default_rng(3)
    for unit in (unit for _ in range(20) for unit in grounded(asked, random)):
        if unit.wrong is not None and unit.right is not None:
            assert unit.wrong.context == unit.right.context
            assert unit.wrong.answer != unit.right.answer


def test_rounds_differ_and_seeds_do_not() -> None:
    asked = [units.Question(right, ("another",)) for right in RIGHT]
    one, again, other = (list(grounded(asked, np.random.default_rng(seed))) for seed in (4, 4, 5))
    assert one == again
    assert one != other


def test_a_number_stands_against_numbers_and_a_name_against_names() -> None:
    numbers = alike(Asked("?", HARBOUR, "1811"))
    assert numbers[:3] == ["1856", "1885", "33"]
    assert "Bavarian" in alike(Asked("?", HARBOUR, "Lindau"))
    assert alike(Asked("?", LIBRARY, "1987年"))[0] == "2004年"
