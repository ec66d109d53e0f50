"""The population stability index: what it is, what chance makes of it, which light it gives."""

from __future__ import annotations

import math
import random

import pytest

from gateway.symptoms import Answers, Said, Spread
from gateway.symptoms.drift import Plug, by_chance, psi
from tests.symptoms.facts import lights, seen

WHAT = Said("scores", "分数")


def test_the_index_is_the_sum_over_bins_and_nothing_for_equal_spreads() -> None:
    assert psi([100, 100], [50, 50]) == pytest.approx(0, abs=1e-3)
    by_hand = (0.8 - 0.5) * math.log(0.8 / 0.5) + (0.2 - 0.5) * math.log(0.2 / 0.5)
    assert psi([50_000, 50_000], [80_000, 20_000]) == pytest.approx(by_hand, rel=1e-3)
    assert math.isfinite(psi([0, 10], [10, 0]))


def test_what_chance_makes_of_it_is_known() -> None:
    chance, beyond = random.Random(3), 0
    for _ in range(300):
        counts = [[0] * 10, [0] * 10]
        for side in counts:
            for _ in range(200):
                side[chance.randrange(10)] += 1
        beyond += psi(*counts) > by_chance(Spread(WHAT, *counts))
    assert 3 <= beyond <= 30  # of 300; 15 are to be expected


@pytest.mark.parametrize(
    ("before", "now", "light"),
    [
        ([500, 500], [510, 490], "green"),
        ([500, 500], [680, 320], "yellow"),
        ([500, 500], [900, 100], "red"),
        ([30, 30], [36, 24], "green"),
        ([25, 24], [25, 24], "grey"),
    ],
)
def test_each_index_has_its_light(before: list[int], now: list[int], light: str) -> None:
    assert lights(Plug(), answers=Answers("log", 0, 0, (), [Spread(WHAT, before, now)])) == [light]


def test_why_there_are_no_scores_is_told() -> None:
    (sign,) = seen(Plug(), answers=Answers("log", 0, 0, lacks="(no model)"))
    assert (sign.light, "(no model)" in sign.seen.en) == ("grey", True)
    assert lights(Plug()) == ["grey"]
