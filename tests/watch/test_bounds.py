"""Bounds hold what they bound as often as they say, and say nothing where the sample can't tell."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.watch import bounds

UNIT = st.lists(st.floats(0, 1), max_size=40)
Mean = Callable[[Sequence[float], float], bounds.Bounds]
MEANS: Sequence[Mean] = (bounds.hoeffding, bounds.betting)
RUNS = 200


def draws(kind: str, count: int, rng: np.random.Generator) -> tuple[list[float], float]:
    """A sample in [0, 1], and the mean it was drawn with."""
    if kind == "narrow":
        return list(rng.beta(18, 2, count)), 0.9
    if kind == "yes or no":
        return list((rng.random(count) < 0.8).astype(float)), 0.8
    many = count // 2  # it has moved within the sample
    moved = [*rng.beta(18, 2, many), *rng.beta(4, 6, count - many)]
    return moved, (0.9 * many + 0.4 * (count - many)) / count


@pytest.mark.parametrize("bound", MEANS)
@pytest.mark.parametrize("kind", ["narrow", "yes or no", "moving"])
@pytest.mark.parametrize("count", [5, 40])
def test_a_mean_lies_within_its_bounds(bound: Mean, kind: str, count: int) -> None:
    rng = np.random.default_rng(count)
    held = 0
    for _ in range(RUNS):
        values, mean = draws(kind, count, rng)
        low, high = bound(values, 0.9)
        held += low <= mean <= high
    assert held >= 0.9 * RUNS


def test_betting_is_narrower_where_values_vary_little() -> None:
    values, _ = draws("narrow", 100, np.random.default_rng(3))
    (low, high), (least, most) = bounds.betting(values), bounds.hoeffding(values)
    assert high - low < 0.5 * (most - least)


@given(UNIT, st.sampled_from(MEANS))
def test_bounds_of_a_mean_are_around_it_and_within_what_can_be(values: list[float], bound: Mean) -> None:
    low, high = bound(values, 0.95)
    assert 0 <= low <= high <= 1
    if values:
        assert low - 1e-9 <= sum(values) / len(values) <= high + 1e-9
    else:
        assert (low, high) == (0, 1)


@given(UNIT.filter(bool))
def test_who_wants_to_be_surer_gets_wider_bounds(values: list[float]) -> None:
    for bound in MEANS:
        (low, high), (least, most) = bound(values, 0.8), bound(values, 0.99)
        assert least <= low <= high <= most


def test_hoeffding_as_it_is_written() -> None:
    off = math.sqrt(math.log(2 / 0.05) / (2 * 200))
    assert bounds.hoeffding([0.5] * 200) == pytest.approx((0.5 - off, 0.5 + off))


def test_a_share_lies_within_its_bounds() -> None:
    rng = np.random.default_rng(7)
    hits = rng.binomial(50, 0.15, RUNS)
    held = sum(low <= 0.15 <= high for low, high in (bounds.wilson(int(hit), 50) for hit in hits))
    assert held >= 0.92 * RUNS
    # Newcombe 1998, table I: 81 of 263, and 0 of 20
    assert bounds.wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=1e-4)
    assert bounds.wilson(0, 20) == pytest.approx((0, 0.1611), abs=1e-4)
    assert bounds.wilson(0, 0) == (0, 1)


def times(count: int, rng: np.random.Generator) -> list[tuple[float, float]]:
    """Times with and without, of exchanges of very different size; with is 30 % faster."""
    size = rng.lognormal(0, 0.6, count)
    ours, theirs = rng.lognormal(0, 0.2, (2, count))
    return list(zip(0.7 * size * ours, size * theirs, strict=True))


@pytest.mark.parametrize(("quantile", "count"), [(0.5, 6), (0.5, 40), (0.95, 72), (0.95, 200)])
def test_a_ratio_of_quantiles_lies_within_its_bounds(quantile: float, count: int) -> None:
    rng = np.random.default_rng(count)
    told = [bounds.quantiles(times(count, rng), quantile) for _ in range(RUNS)]
    held = sum(low <= -0.3 <= high for low, high in told)
    assert held >= 0.9 * RUNS


def test_too_few_samples_bound_no_quantile() -> None:
    pairs = times(71, np.random.default_rng(1))
    assert bounds.least(0.95) == 72
    assert bounds.least(0.5) == bounds.least(0.5, 0.95) == 6
    assert bounds.least(0.05) == 72
    assert bounds.quantiles(pairs, 0.95) == bounds.EVERYTHING
    assert bounds.quantiles(pairs[:5], 0.5) == bounds.EVERYTHING
    low, high = bounds.quantiles(pairs, 0.5)
    assert low < bounds.relative(pairs, 0.5) < high < 0


def test_the_same_pairs_give_the_same_bounds() -> None:
    pairs = times(80, np.random.default_rng(1))
    assert bounds.quantiles(pairs, 0.95) == bounds.quantiles(pairs, 0.95)
    assert bounds.quantiles(pairs, 0.95) != bounds.quantiles(pairs, 0.95, seed=1)
    assert bounds.relative([(1, 2), (1, 2)], 0.5) == -0.5
