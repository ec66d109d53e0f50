"""Temperatures make log odds of numbers, thresholds keep false triggers down."""

from __future__ import annotations

import numpy as np
import pytest

from classifiers.refine import MODES, Said
from classifiers.training import settle


def drawn(slopes: tuple[float, float], shift: float, count: int = 20_000) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(5)
    said = random.normal(size=(count, 2)) * 2
    odds = said @ slopes + shift
    return said, random.random(count) < 1 / (1 + np.exp(-odds))


@pytest.mark.parametrize(("slopes", "shift"), [((1.0, 0.0), 0.0), ((0.5, 0.8), 0.7), ((2.0, 0.3), -1.0)])
def test_numbers_become_log_odds(slopes: tuple[float, float], shift: float) -> None:
    assert settle.calibration(*drawn(slopes, shift)).tolist() == pytest.approx([*slopes, shift], abs=0.15)


def test_a_handful_of_answers_moves_it_little() -> None:
    found = settle.calibration(np.array([[9.0, 0.0], [-9.0, 0.0]]), np.array([True, False]))
    assert found.tolist() == pytest.approx([1, 0, 0], abs=0.5)


def test_a_threshold_lets_through_no_more_right_answers_than_wanted() -> None:
    said, wrong = drawn((1.0, 0.5), 0.0)
    told = settle.mode(said, wrong)
    risks = 1 / (1 + np.exp(-(said @ [told["network"], told["phrases"]] + told["shift"])))
    assert (risks[~wrong] >= told["threshold"]).mean() == pytest.approx(settle.FALSE, abs=0.003)


def test_each_mode_is_set_by_its_own_answers() -> None:
    said, wrong = drawn((1.0, 0.0), 0.0, 4000)
    names = [MODES[n % 4] for n in range(4000)]
    shifted = [Said(network + n % 4, phrases) for n, (network, phrases) in enumerate(said.tolist())]
    told = settle.modes(names, shifted, wrong.tolist())
    assert list(told) == list(MODES)
    assert told[MODES[1]]["shift"] == pytest.approx(told[MODES[0]]["shift"] - 1, abs=0.5)


def test_wording_counts_only_without_a_context() -> None:
    said, wrong = drawn((0.5, 1.0), 0.0, 4000)
    names = [MODES[n % 4] for n in range(4000)]
    told = settle.modes(names, [Said(*one) for one in said.tolist()], wrong.tolist())
    assert [round(told[name]["phrases"]) for name in MODES] == [1, 1, 0, 0]
