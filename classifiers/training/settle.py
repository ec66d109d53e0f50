"""From the network's numbers on the dev split to probabilities and thresholds, for each language with and without a
context. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from classifiers import scores
from classifiers.refine import MODES, Said

FALSE: Final = 0.08  # of right answers above the threshold, on dev: what is new always does a little worse than that
PULL: Final = np.array([1.0, 0.1, 1.0])  # how strongly the network's slope is held at 1 and the rest at 0
STEPS: Final = 40


def calibration(said: NDArray[np.float64], wrong: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Slopes of network and phrases and the shift, under which both together are log odds."""
    given = np.column_stack([said, np.ones(len(said))])
    found = np.zeros(3)  # from here it never overshoots
    for _ in range(STEPS):
        odds = _share(given @ found)
        slope = given.T @ (odds - wrong) + PULL * (found - [1.0, 0.0, 0.0])
        curve = (given.T * (odds * (1 - odds))) @ given + np.diag(PULL)
        found = found - np.linalg.solve(curve, slope)
    return found


def _share(odds: Any) -> Any:
    return 0.5 + 0.5 * np.tanh(odds / 2)  # no overflow, however large


def mode(said: NDArray[np.float64], wrong: NDArray[np.bool_]) -> dict[str, float]:
    """What a manifest says of a mode."""
    network, phrases, shift = calibration(said, wrong).tolist()
    odds = said @ [network, phrases] + shift
    limit = scores.threshold(odds[~wrong], FALSE)
    return {
        "network": round(network, 5),
        "phrases": round(phrases, 5),
        "shift": round(shift, 5),
        "threshold": round(float(_share(limit)), 5),
        "false_triggers_on_dev": FALSE,
        "answers": len(said),
    }


def modes(names: Sequence[str], said: Sequence[Said], wrong: Sequence[bool]) -> Mapping[str, Any]:
    """For each mode, of answers of the dev split and the names of their modes. How an answer is worded counts only
    where there is no context to compare it with."""
    of, numbers, so = np.array(names), np.array(said, np.float64), np.array(wrong, np.bool_)
    numbers[[name.endswith("context") for name in names], 1] = 0
    told = {name: mode(numbers[of == name], so[of == name]) for name in MODES}
    return told
