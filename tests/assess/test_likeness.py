"""What earlier requests give back to later ones, and how sure that is."""

from __future__ import annotations

import random

import pytest

from gateway.assess import likeness
from gateway.assess._line import Line, size
from gateway.assess.likeness import Gain, Keeping, replay, saving, shares
from gateway.rules import Inject
from tests.assess.samples import Asked, day, manual, strangers

SPLICE = Inject(mode="splice", sensitive="allow", min_tokens=64)


def lines(asked: list[Asked]) -> list[Line]:
    return [
        Line(one.at, one.rejected, one.tenant, {"model": "m", "prompt": one.prompt}, size(one.prompt)) for one in asked
    ]


def everything(_line: Line) -> bool:
    return True


def test_documents_that_have_moved_are_given_back_and_strangers_get_nothing() -> None:
    found = saving(replay(lines(day(60)), Keeping(everything, SPLICE)), 60)
    assert found.named == pytest.approx(55 / 60)  # all but the first question on each of the five
    assert found.moved > 0.6
    assert found.prefix < 0.01
    assert found.bounds[0] < found.share < found.bounds[1]
    assert saving(replay(lines(strangers(40)), Keeping(everything, SPLICE)), 40).share == 0


def test_what_is_not_captured_gives_nothing_and_of_other_tenants_neither() -> None:
    asked = day(60)
    few = saving(replay(lines(asked), Keeping(lambda line: bool(line.rejected), SPLICE)), 12)
    assert 0 < few.share < saving(replay(lines(asked), Keeping(everything, SPLICE)), 60).share
    apart = [one._replace(tenant=str(number)) for number, one in enumerate(asked)]
    assert saving(replay(lines(apart), Keeping(everything, SPLICE)), 60).named == 0
    assert saving(replay(lines(asked), Keeping(lambda _line: False, SPLICE)), 0).named == 0


def test_a_capture_serves_no_longer_than_it_lives_and_its_age_is_told() -> None:
    apart = [Line(1000.0 * n, True, "t", {"prompt": f"{n} {manual(1)}"}, 4000) for n in range(4)]
    assert saving(replay(apart, Keeping(everything, SPLICE, ttl=999)), 4).named == 0
    found = saving(replay(apart, Keeping(everything, SPLICE, ttl=1000)), 4)
    assert found.named == 0.75
    assert found.ages == (1000.0, 1000.0)
    timeless = [line._replace(at=None) for line in apart]
    assert saving(replay(timeless, Keeping(everything, SPLICE, ttl=1)), 4).ages is None


def test_what_only_begins_alike_is_told_apart_from_what_has_moved() -> None:
    same = [Line(None, True, "t", {"prompt": f"{manual(1)} Question {n}?"}, 4000) for n in range(5)]
    found = saving(replay(same, Keeping(everything, Inject(min_tokens=64))), 5)
    assert found.prefix > 0.6
    assert found.moved == 0


def test_each_request_is_a_step() -> None:
    steps: list[int] = []
    replay(lines(day(7)), Keeping(everything, SPLICE), lambda: steps.append(1))
    assert len(steps) == 7


def test_bounds_hold_the_truth_about_as_often_as_they_say() -> None:
    chance, held = random.Random(5), 0
    for seed in range(30):
        pairs = [(90.0 if chance.random() < 0.3 else 0.0, 100.0) for _ in range(150)]
        low, high = shares(pairs, seed)
        held += low <= 0.27 <= high
    assert held >= 25  # of 30; 28 are to be expected, and blocks of neighbours are a little narrow


def test_neighbours_that_go_together_make_bounds_wider() -> None:
    apart = [(100.0 * (n % 2), 100.0) for n in range(200)]
    together = [(100.0 * (n // 20 % 2), 100.0) for n in range(200)]
    low, high = shares(apart)
    wide_low, wide_high = shares(together)
    assert wide_high - wide_low > 2 * (high - low)


def test_nothing_found_does_not_prove_that_there_is_nothing() -> None:
    assert saving([], 0).bounds == (0.0, 1.0)
    low, high = saving([Gain(100.0)] * 20, 20).bounds
    assert low == 0
    assert 0.1 < high < 0.3
    assert saving([Gain(100.0)] * 2000, 20).bounds[1] < 0.01
    assert likeness.RESAMPLES >= 1000
