"""Bounds of figures that are measured on samples: what may be said of a mean, a share, a ratio of quantiles.

- hoeffding  a mean of values in [0, 1], whatever their distribution (Hoeffding 1963, theorem 2)
- betting    the same, far narrower where values vary little (Waudby-Smith and Ramdas 2024, "Estimating means of bounded
             random variables by betting", the hedged capital of section 4.4 for a sample of known size)
- wilson     a share (Wilson 1927)
- quantiles  how much a quantile with is above or below the one without, of pairs (bootstrap of the pairs, percentile
             method: Efron and Tibshirani 1993, chapter 13)

All are (low, high) and hold what they bound at least about as often as `confidence` says, at one look; who looks often
is sometimes misled. Where the sample can't tell, they are as wide as the figure can be.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

Bounds = tuple[float, float]

EVERYTHING: Bounds = (-1.0, math.inf)  # where a relative difference of times may lie
STEPS = 1000  # of [0, 1], in which a mean is looked for by betting
RESAMPLES = 400


def hoeffding(values: Sequence[float], confidence: float = 0.95) -> Bounds:
    """The mean of independent values in [0, 1]."""
    if not values:
        return 0.0, 1.0
    mean, off = math.fsum(values) / len(values), math.sqrt(math.log(2 / (1 - confidence)) / (2 * len(values)))
    return max(0.0, mean - off), min(1.0, mean + off)


def betting(values: Sequence[float], confidence: float = 0.95) -> Bounds:
    """The mean of independent values in [0, 1]: the candidates against which no bet on the values has won enough.

    Each bet is made knowing only the values before, so a fair game stays fair: by Ville's inequality the true mean
    lets anybody win 1 / (1 - confidence) times his stake too rarely to matter. The values are taken in an order drawn
    by lot (the same for as many), so that where the mean moves within the sample its average is bounded.
    """
    if not values:
        return 0.0, 1.0
    sample = np.random.default_rng(len(values)).permutation(np.asarray(values, float))
    sizes = _stakes(sample, 1 - confidence)
    candidates = (np.arange(STEPS) + 0.5) / STEPS
    won = np.zeros((2, STEPS))
    for value, size in zip(sample, sizes, strict=True):
        off = value - candidates
        won[0] += np.log1p(np.minimum(size, 0.5 / candidates) * off)
        won[1] += np.log1p(-np.minimum(size, 0.5 / (1 - candidates)) * off)
    left = candidates[won.max(axis=0) < math.log(2 / (1 - confidence))]
    if not left.size:  # the values contradict any one mean, as where it has moved a lot
        return hoeffding(values, confidence)
    step, mean = 0.5 / STEPS, float(sample.mean())
    return max(0.0, min(mean, float(left[0]) - step)), min(1.0, max(mean, float(left[-1]) + step))


def _stakes(sample: np.ndarray, error: float) -> np.ndarray:
    """How much to bet on each value, by what the values before it have varied; theirs is a start of a half and 1/4."""
    count = len(sample)
    before = np.arange(1, count + 1)
    means = (0.5 + np.cumsum(sample)) / (before + 1)
    variances = (0.25 + np.cumsum((sample - means) ** 2)) / (before + 1)
    known = np.concatenate(([0.25], variances[:-1]))
    return np.asarray(np.sqrt(2 * math.log(2 / error) / (count * known)))


def wilson(hits: int, count: int, confidence: float = 0.95) -> Bounds:
    """A share of which `hits` of `count` were seen."""
    if not count:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share, square = hits / count, z * z / count
    middle = (share + square / 2) / (1 + square)
    off = z / (1 + square) * math.sqrt(share * (1 - share) / count + square / (4 * count))
    return max(0.0, min(share, middle - off)), min(1.0, max(share, middle + off))  # whatever is rounded


def least(quantile: float, confidence: float = 0.95) -> int:
    """How many samples it takes before a quantile can be bounded on both sides at all: with fewer it may lie beyond
    the largest (or the smallest) of them with a chance that is not small any more."""
    edge = max(quantile, 1 - quantile)
    return math.ceil(math.log((1 - confidence) / 2) / math.log(edge))


def relative(pairs: Sequence[tuple[float, float]], quantile: float) -> float:
    """How much the quantile of what is first in each pair is above (below: negative) that of what is second."""
    ours, theirs = np.quantile(np.asarray(pairs, float), quantile, axis=0)
    return float(ours / theirs - 1)


def quantiles(pairs: Sequence[tuple[float, float]], quantile: float, confidence: float = 0.95, seed: int = 0) -> Bounds:
    """Bounds of `relative`, of positive times; EVERYTHING for fewer than `least` pairs. The same pairs give the same
    bounds."""
    if len(pairs) < least(quantile, confidence):
        return EVERYTHING
    sample = np.asarray(pairs, float)
    draws = np.random.default_rng(seed).integers(0, len(sample), (RESAMPLES, len(sample)))
    ours, theirs = (np.quantile(sample[draws, side], quantile, axis=1) for side in (0, 1))
    low, high = np.quantile(ours / theirs - 1, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)
