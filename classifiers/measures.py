"""How good probabilities are that something is wrong: at a threshold, as probabilities, and how sure that is. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classifiers.scores import auc

Numbers = NDArray[np.floating[Any]]
Truth = NDArray[np.bool_]

BINS: Final = 10
DRAWS: Final = 200
SEED: Final = 11


class At(NamedTuple):
    """What a threshold gives. Precision is 0 where nothing is above it."""

    precision: float
    recall: float
    false: float  # share of right answers above it
    f1: float


def at(limits: Numbers, risks: Numbers, wrong: Truth) -> At:
    """Each risk against its own limit; what equals it counts as above, as in the gateway."""
    above = risks >= limits
    hits = int((above & wrong).sum())
    precision = hits / int(above.sum()) if above.any() else 0.0
    recall = hits / int(wrong.sum()) if wrong.any() else 0.0
    false = int((above & ~wrong).sum()) / int((~wrong).sum()) if not wrong.all() else 0.0
    return At(precision, recall, false, 2 * precision * recall / (precision + recall) if hits else 0.0)


def best_recall(risks: Numbers, wrong: Truth, most_false: float) -> float:
    """The recall at the lowest threshold above which no more than that share of right answers lies."""
    right = np.sort(risks[~wrong])[::-1]
    if not len(right) or not wrong.any():
        return 0.0
    place = int(most_false * len(right))
    return float((risks[wrong] > right[place]).mean()) if place < len(right) else 1.0


def calibration_error(risks: Numbers, wrong: Truth) -> float:
    """Expected calibration error: in ten bins of like size, how far the mean risk is from the share that is wrong."""
    order = np.argsort(risks, kind="stable")
    parts = [part for part in np.array_split(order, BINS) if len(part)]
    return sum(len(part) * abs(float(risks[part].mean() - wrong[part].mean())) for part in parts) / max(1, len(risks))


def separation(risks: Numbers, wrong: Truth) -> float:
    """AUC: how often a wrong answer's risk is above a right one's."""
    return auc(risks[wrong], risks[~wrong])


def range_of(risks: Numbers, wrong: Truth, groups: Sequence[str]) -> tuple[float, float]:
    """Where the AUC lies in 19 of 20 draws of questions: answers to one question stand or fall together."""
    random = np.random.default_rng(SEED)
    members: dict[str, list[int]] = {}
    for place, group in enumerate(groups):
        members.setdefault(group, []).append(place)
    whole = [np.array(places) for places in members.values()]
    drawn = []
    for _ in range(DRAWS):
        places = np.concatenate([whole[n] for n in random.integers(0, len(whole), len(whole))])
        if 0 < wrong[places].sum() < len(places):
            drawn.append(separation(risks[places], wrong[places]))
    low, high = np.percentile(drawn, [2.5, 97.5]) if drawn else (0.0, 1.0)
    return float(low), float(high)
