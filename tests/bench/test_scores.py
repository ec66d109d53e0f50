"""The scores against what they are defined by."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bench.scores import Tops, bootstrap, common, kl, mean, rouge_l, same_top

short = st.lists(st.integers(0, 3), max_size=7)
weights = st.lists(st.floats(0.01, 100), min_size=2, max_size=8)


def subsequences(items: Sequence[int]) -> set[tuple[int, ...]]:
    return {picked for size in range(len(items) + 1) for picked in itertools.combinations(items, size)}


def distribution(raw: Sequence[float]) -> Tops:
    total = sum(raw)
    return {token: math.log(weight / total) for token, weight in enumerate(raw)}


def top(full: Tops, count: int) -> Tops:
    return dict(sorted(full.items(), key=lambda item: -item[1])[:count])


@settings(deadline=None)
@given(short, short)
def test_common_is_the_longest_common_subsequence(one: list[int], two: list[int]) -> None:
    assert common(one, two) == max(len(both) for both in subsequences(one) & subsequences(two))


@settings(deadline=None)
@given(short, short)
def test_rouge_is_symmetric_and_full_only_for_the_same(one: list[int], two: list[int]) -> None:
    score = rouge_l(one, two)
    assert score == rouge_l(two, one)
    assert 0 <= score <= 1
    assert (score == 1) == (one == two)


def test_rouge_by_hand() -> None:
    # Of "police killed the gunman", "police kill the gunman" has 3 of 4 words, in order.
    assert rouge_l(["police", "killed", "the", "gunman"], ["police", "kill", "the", "gunman"]) == 0.75
    assert rouge_l("我是猫", "我不是猫") == pytest.approx(2 * 3 / 7)
    assert rouge_l([1], []) == 0


@settings(deadline=None)
@given(weights, weights)
def test_kl_of_full_distributions_is_exact(one: list[float], two: list[float]) -> None:
    size = min(len(one), len(two))
    p, q = distribution(one[:size]), distribution(two[:size])
    exact = sum(math.exp(p[token]) * (p[token] - q[token]) for token in p)
    assert kl(p, q) == pytest.approx(exact, abs=1e-6)


@settings(deadline=None)
@given(weights, weights, st.integers(1, 4), st.integers(1, 4))
def test_kl_is_nothing_for_the_same_and_never_negative(one: list[float], two: list[float], m: int, n: int) -> None:
    p, q = top(distribution(one), m), top(distribution(two), n)
    assert kl(p, p) == 0
    assert kl(p, q) >= 0


def test_what_the_engine_leaves_out_changes_little_and_makes_nothing_up() -> None:
    rng = random.Random(3)
    for noise in (0.05, 0.5, 2.0):
        for _ in range(20):
            scores = [rng.gauss(0, 3) for _ in range(400)]
            p = distribution([math.exp(score) for score in scores])
            q = distribution([math.exp(score + rng.gauss(0, noise)) for score in scores])
            exact = sum(math.exp(p[token]) * (p[token] - q[token]) for token in p)
            assert 0.3 * exact < kl(top(p, 20), top(q, 20)) < 1.05 * exact


def test_a_sure_answer_that_the_other_does_not_even_name_is_far_away() -> None:
    sure = {1: math.log(0.98), 2: math.log(0.01)}
    other = {3: math.log(0.9), 4: math.log(0.05)}
    assert kl(sure, other) > 2
    assert not same_top(sure, other)
    assert same_top(sure, {2: math.log(0.1), 1: math.log(0.2)})


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    rng = random.Random(5)
    held = 0
    for _ in range(100):
        told = bootstrap([rng.gauss(10, 2) for _ in range(40)], draws=400)
        assert told.low <= told.value <= told.high
        held += told.low <= 10 <= told.high
    assert 85 <= held <= 100


def test_an_interval_repeats_and_narrows_with_more_values() -> None:
    rng = random.Random(6)
    few, many = [rng.random() for _ in range(10)], [rng.random() for _ in range(1000)]
    assert bootstrap(few) == bootstrap(few)
    width = [told.high - told.low for told in (bootstrap(few), bootstrap(many, draws=300))]
    assert width[1] < width[0] / 3


def test_no_values_are_no_mean() -> None:
    with pytest.raises(ValueError, match="nothing was measured"):
        mean([])
