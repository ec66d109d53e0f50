"""The measures of a judge, on cases that can be counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from classifiers import measures

RISKS = np.array([0.9, 0.8, 0.6, 0.4, 0.3, 0.1])
WRONG = np.array([True, True, False, True, False, False])


def test_a_threshold_counts_what_is_not_below_it() -> None:
    told = measures.at(np.full(6, 0.6), RISKS, WRONG)
    assert list(told) == pytest.approx([2 / 3, 2 / 3, 1 / 3, 2 / 3])


def test_each_risk_has_its_own_limit() -> None:
    told = measures.at(np.array([1, 0.8, 1, 0.4, 1, 1]), RISKS, WRONG)
    assert (told.precision, told.false) == (1, 0)


def test_nothing_above_or_nothing_right_is_no_error() -> None:
    assert measures.at(np.full(6, 2.0), RISKS, WRONG) == (0, 0, 0, 0)
    assert measures.at(np.full(6, 0.0), RISKS, np.ones(6, np.bool_)).false == 0


@pytest.mark.parametrize(("false", "recall"), [(0.0, 2 / 3), (0.34, 1.0), (1.0, 1.0)])
def test_the_best_recall_is_at_the_lowest_threshold_allowed(false: float, recall: float) -> None:
    assert measures.best_recall(RISKS, WRONG, false) == pytest.approx(recall)


def test_true_probabilities_have_no_error_and_boasts_do() -> None:
    random = np.random.default_rng(1)
    risks = random.random(20_000)
    wrong = random.random(20_000) < risks
    assert measures.calibration_error(risks, wrong) < 0.02
    assert measures.calibration_error(np.where(risks > 0.5, 0.99, 0.01), wrong) > 0.2


def test_the_range_holds_the_figure_and_is_wider_for_fewer_questions() -> None:
    random = np.random.default_rng(2)
    wrong = random.random(400) < 0.5
    risks = wrong * 0.5 + random.random(400)
    low, high = measures.range_of(risks, wrong, [str(n) for n in range(400)])
    assert low < measures.separation(risks, wrong) < high
    wide = measures.range_of(risks, wrong, [str(n // 40) for n in range(400)])
    few = measures.range_of(risks[:40], wrong[:40], [str(n) for n in range(40)])
    assert few[1] - few[0] > high - low
    assert wide[0] < wide[1]
