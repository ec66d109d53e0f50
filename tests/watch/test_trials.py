"""Trials in fast time: what they decide, and how often they are wrong when looked at all the time (fixed seeds)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from gateway.watch.pairs import Arm, Pair
from gateway.watch.trials import Evidence, Visits, compared, judged, said, spent
from gateway.watch.trying import Trying

QUICK = Trying(least_pairs=100, least_visits=400, looks=4)


def pair(arm: Arm, ratio: float = 0.8, alike: float | None = 0.9, fair: bool = True) -> Pair:
    return Pair(1.0, "R203", arm, "splice", (ratio, 1.0), (ratio, 1.0), fair, alike)


class Truth(NamedTuple):
    """What one arm's traffic is like: the ratio of the times, how often an answer is another altogether, drop-off."""

    ratio: float = 0.8
    unlike: float = 0.02
    left: float = 0.05


def simulated(new: Truth, now: Truth, seed: int, trying: Trying = QUICK) -> str:
    """What comes of a trial that is judged after every few samples: `worse`, `accepted`, or `late` if nothing did."""
    random, evidence = np.random.default_rng(seed), Evidence("k")
    for _ in range(33):
        for side, truth, times in ((evidence.new, new, 1), (evidence.now, now, 5)):
            unlike = np.where(random.random(25) < truth.unlike, 1.0, 0.05 * random.random(25))
            ratio = truth.ratio * random.lognormal(-0.02, 0.2, 25)
            for one, other in zip(ratio, unlike, strict=True):
                evidence.add(pair("new" if side is evidence.new else "now", float(one), float(1 - other)), trying)
            side.visits, side.left = (
                side.visits + 100 * times,
                side.left + int(random.binomial(100 * times, truth.left)),
            )
        verdict = judged(evidence, trying, 60.0)
        if verdict.what != "going":
            return "accepted" if verdict.what == "accepted" else "worse"
    return "late"


SLACK = 2 * (QUICK.risk * (1 - QUICK.risk) / 60) ** 0.5  # what chance adds to a share of 60 runs


def rates(new: Truth, runs: int = 60) -> dict[str, float]:
    found = [simulated(new, Truth(), seed) for seed in range(runs)]
    return {what: found.count(what) / runs for what in ("worse", "accepted", "late")}


@pytest.mark.long
def test_a_policy_that_is_as_good_is_taken_and_hardly_ever_turned_back() -> None:
    told = rates(Truth())
    assert told["worse"] <= QUICK.risk + SLACK
    assert told["accepted"] >= 1 - QUICK.risk - SLACK


@pytest.mark.long
@pytest.mark.parametrize(
    "worse",
    [
        Truth(ratio=0.8 + QUICK.margins.late),
        Truth(unlike=0.02 + QUICK.margins.unlike),
        Truth(left=0.05 + QUICK.margins.left),
    ],
    ids=["LD", "CS", "drop-off"],
)
def test_a_policy_that_is_worse_by_its_margin_in_one_figure_is_hardly_ever_taken(worse: Truth) -> None:
    assert rates(worse)["accepted"] <= QUICK.risk


@pytest.mark.parametrize("worse", [Truth(ratio=1.3), Truth(unlike=0.3), Truth(left=0.2)])
def test_harm_is_seen_long_before_the_end(worse: Truth) -> None:
    assert rates(worse, runs=20)["worse"] == 1


def test_no_verdict_before_there_is_enough_of_everything() -> None:
    evidence = Evidence("k")
    assert judged(evidence, QUICK, 0.0).what == "going"
    for arm in ("new", "now"):
        for _ in range(QUICK.least_pairs * 8):
            evidence.add(pair(arm), QUICK)
    assert judged(evidence, QUICK, 0.0).what == "going"
    assert set(evidence.shown) == {"late", "unlike"}
    for arm in ("new", "now"):
        for _ in range(3200):
            evidence.visit(arm, False)  # type: ignore[arg-type]
    verdict = judged(evidence, QUICK, 0.0)
    assert verdict.what == "accepted"
    assert "LD -20.0%" in verdict.why
    assert "CS 0.900" in verdict.why
    assert "drop-off 0.00%" in verdict.why


def test_what_has_shown_nothing_in_time_ends() -> None:
    verdict = judged(Evidence("k"), QUICK, QUICK.most_hours * 3600 + 1)
    assert verdict.what == "turned_back"
    assert "not shown in 168 hours to be no worse: LD, CS, drop-off" in verdict.why


def test_a_test_is_made_once_for_each_doubling_and_spends_its_part_of_the_risk() -> None:
    evidence = Evidence("k")
    assert spent(QUICK) == pytest.approx(0.05 / 12)
    made = []
    for _ in range(90):
        for arm in ("new", "now"):
            for number in range(10):
                evidence.add(pair(arm, 0.8 + number / 100), QUICK)
        judged(evidence, QUICK, 0.0)
        made.append(evidence.looks.get("late", 0))
    assert (made[8], made[9], made[19], made[39], made[79], made[89]) == (0, 1, 2, 3, 4, 4)  # 100, 200, 400, 800


def test_where_nothing_was_injected_the_new_policy_is_held_against_no_difference() -> None:
    fine, harm = Evidence("k", idle=True), Evidence("k", idle=True)
    for number in range(800):
        fine.add(pair("new", 0.7, 0.97), QUICK)
        harm.add(pair("new", 0.7, 0.97 if number % 3 else 0.2), QUICK)
        for evidence in (fine, harm):
            evidence.visit("new", False)
            for _ in range(2):
                evidence.visit("now", False)
    assert judged(fine, QUICK, 0.0).what == "accepted"
    verdict = judged(harm, QUICK, 0.0)
    assert verdict.what == "turned_back"
    assert verdict.why.startswith("significantly worse: CS 0.7")


def test_what_a_pair_tells_is_bounded_and_only_fair_ones_tell_of_time() -> None:
    evidence = Evidence("k")
    for one in (pair("new", 9.0, 1.2), pair("new", 0.5, None), pair("new", 0.5, 0.5, fair=False)):
        evidence.add(one, QUICK)
    assert evidence.new.late == [1.0, 0.25]
    assert evidence.new.unlike == [0.0, 0.5]
    for _ in range(4000):
        evidence.add(pair("new"), QUICK)
        evidence.add(pair("now"), QUICK)
    assert len(evidence.new.late) == len(evidence.new.unlike) == 100 * 8
    assert len(evidence.now.late) == 100 * 32


def test_a_comparison_reads_as_people_speak() -> None:
    evidence = Evidence("k")
    for _ in range(100):
        evidence.add(pair("new", 0.5, 0.8), QUICK)
        evidence.add(pair("now", 0.8, 1.0), QUICK)
    assert said(compared(evidence, "late", QUICK)).startswith("LD -50.0% [")
    assert " of 100 against -20.0% [" in said(compared(evidence, "late", QUICK))
    assert said(compared(evidence, "unlike", QUICK)).startswith("CS 0.800 [")


def test_a_visit_counts_once_and_when_it_is_over() -> None:
    visits = Visits(most=2)
    visits.seen(b"a", {"k": "new"}, False, 100.0)
    visits.seen(b"b", {"k": "now"}, False, 150.0)
    visits.seen(b"c", {"k": "now"}, True, 160.0)  # no room
    visits.seen(b"a", {"k": "new"}, True, 170.0)
    visits.seen(b"a", {"k": "new"}, False, 180.0)
    assert list(visits.over(150.0, 60.0)) == []
    assert list(visits.over(165.0, 60.0)) == [({"k": "new"}, True)]
    assert len(visits) == 1
    assert list(visits.over(300.0, 60.0)) == [({"k": "now"}, False)]
