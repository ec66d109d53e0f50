"""Tests and bounds keep what they promise: known values, and how often they are wrong in simulation (fixed seeds)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.watch._compare import ENOUGH, ROUNDS, fisher, mean_within, no_worse, permuted


def test_the_lady_tasting_tea() -> None:
    """Fisher 1935, chapter II: three of four cups right."""
    assert fisher((3, 4), (1, 4)) == pytest.approx(17 / 70)
    assert fisher((4, 4), (0, 4)) == pytest.approx(1 / 70)
    assert fisher((0, 50), (10, 50)) == pytest.approx(1)


@given(st.integers(1, 30), st.integers(1, 30), st.data())
def test_fisher_is_what_counting_gives(count: int, rest: int, data: st.DataObject) -> None:
    hits, others = data.draw(st.integers(0, count)), data.draw(st.integers(0, rest))
    total = hits + others
    ways = sum(math.comb(count, k) * math.comb(rest, total - k) for k in range(hits, min(count, total) + 1))
    assert fisher((hits, count), (others, rest)) == pytest.approx(ways / math.comb(count + rest, total))


def test_a_permutation_test_finds_what_is_there_and_nothing_else() -> None:
    random = np.random.default_rng(1)
    low, high = random.normal(0.4, 0.1, 60), random.normal(0.6, 0.1, 60)
    assert permuted(list(high), list(low)) == 1 / (ROUNDS + 1)
    assert permuted(list(low), list(high)) > 0.99
    assert permuted([0.5] * 20, [0.5] * 30) == 1
    assert permuted([0.9] * 20, [0.5] * 30) == 1 / (ROUNDS + 1)
    assert permuted(list(low), list(low[::-1]), seed=3) == permuted(list(low), list(low[::-1]), seed=3)


def test_a_permutation_test_agrees_with_all_splits_of_a_small_sample() -> None:
    """Of 1, 2, 3 | 4, 5, 6 exactly one of the 20 splits is as far apart; of 1, 2, 4 | 3, 5, 6 two are."""
    for first, second, ways in (([4, 5, 6], [1, 2, 3], 1), ([3, 5, 6], [1, 2, 4], 2)):
        found = permuted([x / 10 for x in first], [x / 10 for x in second])
        assert found == pytest.approx(ways / 20, abs=4 * math.sqrt(ways / 20 / ENOUGH * ways / 20))


def test_a_permutation_test_errs_as_often_as_it_says() -> None:
    """Skewed values of both arms alike, as likenesses are: most are 1, some far below."""
    random, wrong = np.random.default_rng(2), 0
    for run in range(200):
        values = np.where(random.random(200) < 0.8, 0.0, random.random(200))
        wrong += permuted(list(values[:40]), list(values[40:]), seed=run) <= 0.05
    assert wrong / 200 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 200)


@pytest.mark.parametrize(("share", "count", "times"), [(0.03, 200, 9), (0.05, 400, 3), (0.0, 300, 1)])
def test_a_share_that_is_worse_by_the_margin_is_hardly_ever_shown_to_be_no_worse(
    share: float, count: int, times: int
) -> None:
    random, runs = np.random.default_rng(3), 1000
    first, second = random.binomial(count, share + 0.02, runs), random.binomial(count * times, share, runs)
    wrong = sum(
        no_worse((int(a), count), (int(b), count * times), 0.02) <= 0.05 for a, b in zip(first, second, strict=True)
    )
    assert wrong / runs <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)


def test_a_share_that_is_the_same_is_shown_to_be_with_enough_of_it() -> None:
    assert no_worse((80, 1600), (720, 14_400), 0.02) < 0.005
    assert no_worse((8, 160), (72, 1440), 0.02) > 0.05
    assert no_worse((200, 1600), (720, 14_400), 0.02) > 0.99
    assert no_worse((0, 10), (0, 10), 0.02) > 0.3


@pytest.mark.parametrize("kind", ["rare", "usual"])
def test_bounds_of_a_mean_are_wrong_as_seldom_as_they_say(kind: str) -> None:
    """Also where nearly all values are 0 and a few are 1, which no bell curve is like."""
    random, wrong, mean = np.random.default_rng(4), 0, {"rare": 0.03, "usual": 0.25}[kind]
    for run in range(300):
        count = 50 if run % 2 else 200
        values = (random.random(count) < 0.03) * 1.0 if kind == "rare" else random.beta(2, 6, count)
        low, high = mean_within(list(values), 0.1)
        wrong += not low <= mean <= high
    assert wrong / 300 <= 0.1 + 3 * math.sqrt(0.1 * 0.9 / 300)


def test_bounds_close_in_on_the_truth_and_nothing_is_known_of_nothing() -> None:
    random = np.random.default_rng(5)
    values = list(random.normal(0.3, 0.05, 2000).clip(0, 1))
    low, high = mean_within(values, 0.05)
    assert 0.29 < low < 0.3 < high < 0.31
    assert mean_within([], 0.05) == (0, 1)
    assert mean_within([0.0] * 400, 0.05)[1] < 0.02
    assert mean_within([1.0] * 400, 0.05)[0] > 0.98
