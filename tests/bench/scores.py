"""How near two answers are: by their tokens, and by what the model thought at a position. All of it pure."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple

Tops = Mapping[int, float]
"""Log probabilities of the tokens that stood highest at a position."""
FLOOR = 1e-12
"""The probability of what a truncated distribution leaves no room for."""


def common(one: Sequence[Hashable], two: Sequence[Hashable]) -> int:
    """Length of the longest common subsequence."""
    row = [0] * (len(two) + 1)
    for item in one:
        diagonal = 0
        for at, other in enumerate(two, 1):
            diagonal, row[at] = row[at], diagonal + 1 if item == other else max(row[at], row[at - 1])
    return row[-1]


def rouge_l(one: Sequence[Hashable], two: Sequence[Hashable]) -> float:
    """ROUGE-L F1 of two sequences of token ids or characters: 0 nothing in common, 1 the same.

    C.-Y. Lin, "ROUGE: A Package for Automatic Evaluation of Summaries", 2004, section 3: the longest common
    subsequence as a share of either length, and their harmonic mean (beta = 1: either may be the reference).
    """
    if not one or not two:
        return float(len(one) == len(two))
    return 2 * common(one, two) / (len(one) + len(two))


def kl(true: Tops, other: Tops) -> float:
    """Kullback-Leibler divergence of two next-token distributions in nats, of `other` from `true`; never negative.

    An engine tells no more than the most probable tokens (20), so coarser distributions are compared: each token that
    either names by itself, and all the rest in one lump. A token that one of them does not name gets there the most
    that it can have, the probability of the last named one, as far as the rest has room for it: so what the engine
    leaves out makes the divergence look smaller, not larger. Where both name every token it is exact.
    """
    tokens = sorted(true.keys() | other.keys())
    cells = zip(_cells(true, tokens), _cells(other, tokens), strict=True)
    return max(0.0, math.fsum(p * math.log(p / q) for p, q in cells))


def _cells(tops: Tops, tokens: Sequence[int]) -> list[float]:
    """The probability of each token, and of all others together; they sum to 1."""
    named = {token: max(FLOOR, math.exp(value)) for token, value in tops.items()}
    rest = max(FLOOR, 1 - math.fsum(named.values()))
    unnamed = len(tokens) - len(named)
    guess = min(min(named.values()), rest / (unnamed + 1))
    cells = [named.get(token, guess) for token in tokens] + [rest - guess * unnamed]
    total = math.fsum(cells)
    return [cell / total for cell in cells]


def same_top(one: Tops, two: Tops) -> bool:
    """Whether both hold the same token for the most probable."""
    return max(one, key=one.__getitem__) == max(two, key=two.__getitem__)


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean; ValueError if there is nothing to average."""
    if not values:
        raise ValueError("no values: nothing was measured")
    return math.fsum(values) / len(values)


class Interval(NamedTuple):
    """A statistic and where it would lie on most other samples."""

    value: float
    low: float
    high: float


def bootstrap(
    values: Sequence[float],
    statistic: Callable[[Sequence[float]], float] = mean,
    *,
    level: float = 0.95,
    draws: int = 2000,
    seed: int = 1,
) -> Interval:
    """A statistic of a sample with its percentile bootstrap interval (Efron 1979); the same for the same seed.

    Values that belong together, as positions of one document, are to be averaged first: a draw takes each for itself.
    """
    rng = random.Random(seed)
    drawn = sorted(statistic(rng.choices(values, k=len(values))) for _ in range(draws))
    cut = (1 - level) / 2
    return Interval(statistic(values), drawn[int(cut * draws)], drawn[min(draws - 1, int((1 - cut) * draws))])
