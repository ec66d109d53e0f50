"""How well numbers tell pairs that ask the same from pairs that don't. Pure; higher numbers mean more alike."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.floating[Any]]

SHARES = (0.05, 0.01)  # of false hits, for which a threshold is set


class Found(NamedTuple):
    """At one threshold: the share of like pairs found, and the share of unlike pairs taken for like."""

    threshold: float
    recall: float
    false: float


def threshold(unlike: Numbers, share: float) -> float:
    """The least number above which no more than this share of unlike pairs lies."""
    if not len(unlike):
        return math.inf
    return float(np.sort(unlike)[::-1][int(share * len(unlike))])


def found(limit: float, like: Numbers, unlike: Numbers) -> Found:
    """What lies above the limit."""
    return Found(limit, _above(limit, like), _above(limit, unlike))


def auc(like: Numbers, unlike: Numbers) -> float:
    """How often a like pair scores above an unlike one; a tie counts half. 0 where one kind is missing."""
    if not len(like) or not len(unlike):
        return 0.0
    ordered = np.sort(unlike)
    below = np.searchsorted(ordered, like, "left")
    not_above = np.searchsorted(ordered, like, "right")
    return float((below + not_above).mean() / 2 / len(ordered))


def _above(limit: float, scores: Numbers) -> float:
    return float((scores > limit).mean()) if len(scores) else 0.0
