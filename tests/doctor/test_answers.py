"""Answers out of a log: who hedges, and whether scores have drifted."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import orjson
import pytest

from gateway.doctor import answers
from gateway.doctor.answers import gathered, spread
from gateway.symptoms import Said
from gateway.symptoms.drift import psi
from gateway.tiers._model import Asked, Scorer
from gateway.tiers._patterns import Phrases
from tests.assess.samples import day, lines, retrace, write

DOUBTS = [Phrases(words=("perhaps",)), Phrases(words=("可能",), innocent=("尽可能",))]
WHAT = Said("scores", "分数")


class Scores:
    """A scorer by rule: an answer's length in hundreds of characters."""

    def risks(self, asked: Sequence[Asked]) -> Sequence[float]:
        return [len(one.answer) / 100 for one in asked]

    def threshold(self, _language: str, _context: bool) -> float:
        return 0.5


def load() -> Scorer:
    return Scores()


def test_answers_that_hedge_are_counted_with_their_words(tmp_path: Path) -> None:
    said = ["Perhaps it is.", "It is so.", "可能如此，可能吧", "我们会尽可能快。", 'The word "perhaps" is long.']
    log = write(
        tmp_path / "log", lines([one._replace(answer=text) for one, text in zip(day(5), said, strict=True)], "bodies")
    )
    told = gathered(log, DOUBTS, None)
    assert (told.source, told.total, told.hedging) == (str(log), 5, 2)
    assert dict(told.words) == {"perhaps": 1, "可能": 1}
    assert told.spreads == []


def test_scores_of_the_later_half_are_compared_with_those_of_the_earlier(tmp_path: Path) -> None:
    chance = random.Random(2)
    same = ["x" * chance.randrange(1, 50) for _ in range(300)]
    longer = [*same[:150], *("x" * chance.randrange(30, 90) for _ in range(150))]

    def index(said: list[str]) -> float:
        told = [one._replace(answer=text) for one, text in zip(day(300), said, strict=True)]
        found = gathered(write(tmp_path / "log", lines(told, "bodies")), DOUBTS, load)
        (one,) = found.spreads
        assert sum(one.before) == sum(one.now) == 150
        return psi(one.before, one.now)

    assert index(same) < 0.15
    assert index(longer) > 0.5


def test_what_became_of_answers_is_compared_where_it_differs(tmp_path: Path) -> None:
    rows = [retrace(one) for one in day(100)]
    for number, row in enumerate(rows):
        if number >= 50 and number % 2:
            row["refined"] = {"0": {"outcome": "degraded"}}
    told = gathered(write(tmp_path / "log", [orjson.dumps(row) for row in rows]), DOUBTS, None)
    (one,) = told.spreads
    assert (list(one.before), list(one.now)) == ([0, 50], [25, 25])
    assert one.what.en == "what became of answers"


def test_only_the_newest_answers_are_remembered_and_each_is_a_step(tmp_path: Path) -> None:
    many = answers.NEWEST + 10
    steps: list[int] = []
    told = gathered(write(tmp_path / "log", lines(day(many), "bodies")), DOUBTS, None, lambda: steps.append(1))
    assert told.total == len(steps) == answers.NEWEST


@pytest.mark.parametrize(("size", "bins"), [(answers.SCORED, answers.BINS), (50, answers.FEW)])
def test_bins_hold_equal_parts_of_what_was_before(size: int, bins: int) -> None:
    before = [n / size for n in range(size)]
    told = spread(WHAT, before, before)
    assert len(told.before) == bins
    assert max(told.before) - min(told.before) <= 1
    assert told.before == told.now


def test_scores_that_are_all_the_same_have_one_bin_or_two() -> None:
    told = spread(WHAT, [0.5] * 60, [0.5] * 60)
    assert sum(told.before) == sum(told.now) == 60
    assert psi(told.before, told.now) == pytest.approx(0)
