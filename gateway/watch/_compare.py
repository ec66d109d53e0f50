"""Whether one sample is worse than another: p-values, and bounds. Larger means worse in all that is compared.

- fisher       of two shares (Fisher 1935): given how many fell out in all, how likely so many of them are in the first
- no_worse     of two shares: whether the first is surely above the second by less than a margin (score test with the
               likelihood at its largest under the margin: Farrington and Manning 1990)
- permuted     of two means (studentized permutation test: Janssen 1997; Chung and Romano 2013): how often a random
               split of all values differs as much, in units of its standard error. Exact if both samples come from the
               same distribution, and asymptotically right if only their means agree. It stops early where the answer
               is clear (Besag and Clifford 1991), and stays a valid p-value then
- mean_within  bounds of a mean of values in [0, 1], whatever their distribution, so also where most are alike and a few
               are far off, which bell curves get wrong (betting: Waudby-Smith and Ramdas 2024, with stakes for a sample
               of this size)

All of it is pure and the same for the same values. Each holds for one look; who looks again spends more of his risk.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

Bounds = tuple[float, float]

ROUNDS = 9_999  # random splits at most
ENOUGH = 50  # splits that differ as much: then it is clear that more than a few do
_AT_ONCE = 200_000  # values that are shuffled together


def fisher(first: tuple[int, int], second: tuple[int, int]) -> float:
    """The chance of so many hits (or more) in the first sample, were both alike. Each: hits, of how many."""
    (hits, count), (others, rest) = first, second
    total = hits + others
    whole = _choose(count + rest, total)
    return min(
        1.0,
        math.fsum(
            math.exp(_choose(count, k) + _choose(rest, total - k) - whole)
            for k in range(hits, min(count, total) + 1)
            if total - k <= rest
        ),
    )


def _choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def permuted(first: Sequence[float], second: Sequence[float], seed: int = 0) -> float:
    """The chance that the first sample's mean is above the second's by as much (or more), were both alike. Each must
    hold two values at least."""
    values = np.concatenate([np.asarray(first, float), np.asarray(second, float)])
    count, random = len(first), np.random.default_rng(seed)
    real = float(_studentized(values[None, :], count)[0]) - 1e-9
    rows, done, beyond = max(1, _AT_ONCE // len(values)), 0, 0
    while done < ROUNDS:
        splits = random.permuted(np.broadcast_to(values, (min(rows, ROUNDS - done), len(values))), axis=1)
        hits = np.flatnonzero(_studentized(splits, count) >= real)
        if beyond + len(hits) >= ENOUGH:
            return ENOUGH / (done + int(hits[ENOUGH - beyond - 1]) + 1)
        beyond, done = beyond + len(hits), done + len(splits)
    return (beyond + 1) / (ROUNDS + 1)


def _studentized(splits: np.ndarray, count: int) -> np.ndarray:
    """By how many of its standard errors the mean of the first `count` values of each row is above that of the rest."""
    first, second = splits[:, :count], splits[:, count:]
    off = first.mean(axis=1) - second.mean(axis=1)
    error = np.sqrt(first.var(axis=1, ddof=1) / first.shape[1] + second.var(axis=1, ddof=1) / second.shape[1])
    sure = np.where(np.abs(off) < 1e-12, 0.0, np.copysign(np.inf, off))  # where nothing varies, any difference is one
    return np.asarray(np.divide(off, error, out=sure, where=error > 1e-12))


def mean_within(values: Sequence[float], error: float) -> Bounds:
    """Bounds of the mean of independent values in [0, 1], wrong with a chance of `error`, half of it on either side.
    Each bet is made by what was seen before it; against a candidate on which it wins 2 / error times its stake at any
    time, the values have spoken."""
    if not values:
        return 0.0, 1.0
    sample = np.asarray(values, float)
    return 1 - _highest(1 - sample, error), _highest(sample, error)


def _highest(sample: np.ndarray, error: float) -> float:
    """The largest mean that bets on smaller values do not speak against."""
    count, limit = len(sample), math.log(2 / error)
    before = np.arange(1, count + 1)
    means = (0.5 + np.cumsum(sample)) / (before + 1)
    spread = (0.25 + np.cumsum((sample - means) ** 2)) / (before + 1)
    bets = np.sqrt(2 * limit / (count * np.concatenate(([0.25], spread[:-1]))))

    def refuted(mean: float) -> bool:
        sizes = np.minimum(bets, 0.75 / max(1 - mean, 1e-9))  # no bet may lose all
        return bool(np.cumsum(np.log1p(sizes * (mean - sample))).max() >= limit)

    low, high = 0.0, 1.0
    if not refuted(high):
        return 1.0
    while high - low > 1e-5:
        middle = (low + high) / 2
        low, high = (low, middle) if refuted(middle) else (middle, high)
    return high


def no_worse(first: tuple[int, int], second: tuple[int, int], margin: float) -> float:
    """The chance that the first share is above the second by so little (or less), were it above by the margin."""
    (hits, count), (others, rest) = first, second
    low, high = 0.0, 1 - margin  # what the second share may be
    for _ in range(50):
        middle = (low + high) / 2
        above = middle + margin
        slope = _slope(hits, count, above) + _slope(others, rest, middle)
        low, high = (middle, high) if slope > 0 else (low, middle)
    above, below = low + margin, low
    error = math.sqrt(above * (1 - above) / count + below * (1 - below) / rest)
    return NormalDist().cdf((hits / count - others / rest - margin) / max(error, 1e-12))


def _slope(hits: int, count: int, share: float) -> float:
    """How the likelihood of a share grows with it."""
    return hits / max(share, 1e-12) - (count - hits) / max(1 - share, 1e-12)
