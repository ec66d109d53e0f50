"""Each lever by itself: what the figures call for, what that would make of the overlay; it changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from gateway.overlay import EMPTY, Brake, Overlay, Returned
from gateway.watch import levers
from gateway.watch._spells import Spells
from gateway.watch.control import Controlling
from gateway.watch.levers import Look, Move
from gateway.watch.series import Reading
from tests.watch.readings import code, looks, reading

OFF = Brake(cause="consistency", since=0, pause=60, next=60)
AT_ONCE = Controlling.model_validate(
    {
        "hits": {"minutes": 0},
        "latency": {"minutes": 0},
        "consistency": {"minutes": 0},
        "recovery": {"minutes": 0},
        "faults": {"seconds": 0},
    }
)


def look(told: Reading, overlay: Overlay = EMPTY, words: Controlling = AT_ONCE, room: int = 2) -> Look:
    spells = Spells()
    spells.look(told.at)
    return Look(words, told, overlay, spells, room, float("-inf"))


def made(moves: Iterator[Move], overlay: Overlay = EMPTY) -> Overlay:
    """What the only move makes of an overlay."""
    (move,) = moves
    return move.change(overlay)


@pytest.mark.parametrize(
    "lever", [levers.breaker, levers.consistency, levers.latency, levers.tries, levers.recovery, levers.hits]
)
def test_good_figures_call_for_nothing(lever: Callable[[Look], Iterator[Move]]) -> None:
    assert list(lever(look(reading(1e6)))) == []


def test_a_fallback_takes_every_code_that_was_seen_and_those_that_are_off() -> None:
    before = Overlay(codes={"R307": OFF.model_copy(update={"cause": "latency", "tried": 5.0})}, back=("R101",))
    after = made(levers.consistency(look(reading(1e6, cs=0.5), before)), before)
    assert set(after.codes) == {"R101", "R203", "R307"}
    assert {brake.cause for brake in after.codes.values()} == {"consistency"}
    assert all(brake.tried is None and brake.next == 1e6 + 3600 for brake in after.codes.values())
    assert after.back == ()
    assert before.codes["R307"].cause == "latency"


def test_in_the_fallback_a_code_that_came_back_goes_off_again_by_itself() -> None:
    before = Overlay(fallback=1.0, back=("R101",))
    bad = reading(1e6, cs=0.5, codes={"R101": code(cs=0.5), "R203": code(cs=0.5)})
    after = made(levers.consistency(look(bad, before)), before)
    assert (set(after.codes), after.back) == ({"R101"}, ())


def test_a_breaker_counts_its_openings_only_while_they_are_near() -> None:
    for mended, tripped in ((None, 1), (1e6 - 3600, 4), (1e6 - 2 * 86400, 1)):
        before = Overlay(mended=mended, tripped=3)
        assert made(levers.breaker(look(reading(1e6, faults={"store"}), before)), before).tripped == tripped


def test_a_try_begins_when_its_pause_is_over() -> None:
    before = Overlay(codes={"R101": OFF})
    assert list(levers.tries(look(reading(59), before))) == []
    assert made(levers.tries(look(reading(60), before)), before).codes["R101"].tried == 60


def test_a_try_without_a_verdict_ends_and_its_pause_stays_the_same() -> None:
    before = Overlay(codes={"R101": OFF.model_copy(update={"tried": 60.0})})
    none = {"R101": code(cs=None, ld=None)}
    assert list(levers.tries(look(reading(60 + 240 * 60 - 1, codes=none), before))) == []
    after = made(levers.tries(look(reading(60 + 240 * 60, codes=none), before)), before).codes["R101"]
    assert (after.tried, after.tries, after.pause, after.next) == (None, 1, 60, 60 + 240 * 60 + 60)


def test_a_try_that_looks_good_goes_on_until_that_is_sure() -> None:
    for cause, good, bad in (
        ("consistency", code(cs=0.9, off=0.2), code(cs=0.84, off=0.2)),
        ("latency", code(ld=-0.2, off=0.2), code(ld=-0.06, off=0.2)),
    ):
        before = Overlay(codes={"R101": OFF.model_copy(update={"tried": 60.0, "cause": cause})})
        assert list(levers.tries(look(reading(1e6, codes={"R101": good}), before))) == []
        (move,) = levers.tries(look(reading(1e6, codes={"R101": bad}), before))
        assert (move.act.what, move.act.why) == ("again", "the try ended without a verdict")


def test_a_try_that_fails_doubles_the_pause_up_to_the_longest() -> None:
    for pause, longer in ((60, 120), (80_000, 86_400)):
        before = Overlay(codes={"R101": OFF.model_copy(update={"tried": 60.0, "pause": pause})})
        after = made(levers.tries(look(reading(90, codes={"R101": code(cs=0.5)}), before)), before).codes["R101"]
        assert (after.tried, after.pause, after.next) == (None, longer, 90 + longer)


def test_a_code_that_is_back_is_remembered_and_braked_for_longer_next_time() -> None:
    before = Overlay(codes={"R101": OFF.model_copy(update={"tried": 60.0, "pause": 7200})})
    back = made(levers.tries(look(reading(90), before)), before)
    assert (back.codes, back.returned) == ({}, {"R101": Returned(at=90, pause=7200)})
    assert levers.brake(look(reading(1000), back), "latency", "R101").pause == 14_400
    assert levers.brake(look(reading(1000 + 10 * 86400), back), "latency", "R101").pause == 3600
    assert levers.brake(look(reading(1000), back), "latency", "R203").pause == 3600


def test_the_fallback_lasts_until_each_code_was_tried_and_one_is_back() -> None:
    once = OFF.model_copy(update={"tries": 1})
    for codes, back, over in (
        ({"R101": OFF}, ("R203",), False),
        ({"R101": once}, (), False),
        ({"R101": once}, ("R203",), True),
        ({}, ("R203",), True),
    ):
        before = Overlay(fallback=1.0, codes=codes, back=back)
        moves = list(levers.recovery(look(reading(1e6), before)))
        assert bool(moves) is over
    assert moves[0].change(before).fallback is None


def test_a_fallback_in_which_no_code_was_known_ends_after_a_pause() -> None:
    before = Overlay(fallback=100.0)
    assert list(levers.recovery(look(reading(3699), before))) == []
    assert made(levers.recovery(look(reading(3700), before)), before).idle


def test_no_lever_ever_changes_what_it_looks_at() -> None:
    overlay = Overlay(fallback=1.0, codes={"R101": OFF}, back=("R203",))
    kept = overlay.model_copy(deep=True)
    for at in looks(0, 30):
        for lever in (levers.breaker, levers.consistency, levers.latency, levers.tries, levers.recovery, levers.hits):
            for move in lever(look(reading(at, cs=0.5, ld=0.1, chr_=0.1, faults={"store"}), overlay)):
                move.change(overlay)
    assert overlay == kept
