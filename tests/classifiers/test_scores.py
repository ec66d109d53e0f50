"""Thresholds never let more false hits through than they say, on what they were chosen on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from classifiers.scores import auc, found, threshold

# Few different numbers, so that there are many ties, as with codes.
SCORES = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=60).map(np.array)


@given(SCORES, st.sampled_from([0.05, 0.01, 0.3]))
def test_no_more_false_hits_than_allowed(unlike: np.ndarray, share: float) -> None:
    assert found(threshold(unlike, share), unlike, unlike).false <= share


@given(SCORES, SCORES)
def test_auc_is_the_chance_that_a_like_pair_scores_higher(like: np.ndarray, unlike: np.ndarray) -> None:
    wins = np.mean([(a > b) + (a == b) / 2 for a in like for b in unlike])
    assert auc(like, unlike) == pytest.approx(wins)
    assert auc(like, unlike) + auc(unlike, like) == pytest.approx(1)


def test_recall_and_false_hits_are_counted_above_the_threshold() -> None:
    result = found(2.0, np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.0, 3.0]))
    assert (result.recall, result.false) == (0.5, 0.5)


def test_without_negatives_nothing_is_a_hit() -> None:
    nothing = np.array([])
    assert found(threshold(nothing, 0.05), np.array([1.0]), nothing).recall == 0
    assert auc(np.array([1.0]), nothing) == 0
