"""The controller in fast time: what it does at which figures, what limits it, and that it never goes to and fro."""

from __future__ import annotations

from itertools import pairwise

import pytest

from gateway.overlay import EMPTY, Overlay
from gateway.watch.control import Controlling
from gateway.watch.controller import Controller
from gateway.watch.series import Figure, Reading
from tests.watch.readings import EVERY, code, figure, looks, reading, run, told

ACT = Controlling(mode="act")
MINUTE, HOUR = 60.0, 3600.0
BAD = {"R101": code(cs=0.6), "R203": code(cs=0.6)}


def acting(**fields: object) -> Controller:
    return Controller(Controlling.model_validate({"mode": "act", **fields}))


def test_on_good_days_nothing_is_done() -> None:
    controller = acting()
    assert run(controller, 0, 24 * 60) == []
    assert controller.overlay is EMPTY


def test_without_figures_nothing_is_done() -> None:
    controller = acting()
    assert run(controller, 0, 600, chr_=None, ld=None, cs=None, codes={}) == []


@pytest.mark.parametrize("bad", [{"chr_": 0.14}, {"ld": -0.04}, {"cs": 0.81}])
def test_a_value_beyond_the_threshold_is_no_verdict_while_its_bound_is_not(bad: dict[str, float]) -> None:
    codes = {"R101": code(ld=0.0, cs=0.8, off=0.2)}
    assert run(acting(), 0, 600, off=0.05, codes=codes, **bad) == []


def test_a_low_hit_rate_loosens_the_search_once_after_five_minutes() -> None:
    controller = acting()
    acts = run(controller, 0, 5, chr_=0.1)
    assert told(acts) == [("loosen", "")]
    assert (acts[0].at, acts[0].was, acts[0].now) == (5 * MINUTE, "0 bits", "2 bits")
    assert controller.overlay.bits == 2
    assert run(controller, 5 * MINUTE + EVERY, 48 * 60, chr_=0.1) == []  # as far as it may go


def test_the_condition_must_hold_without_a_break() -> None:
    controller = acting()
    for at in looks(0, 60):
        low = (at / EVERY) % 10 != 9  # good every tenth look
        assert controller.step(reading(at, chr_=0.1 if low else 0.4)) == []


def test_a_high_hit_rate_takes_it_back_once_the_search_has_settled() -> None:
    controller = acting()
    run(controller, 0, 5, chr_=0.1)
    acts = run(controller, 5 * MINUTE + EVERY, 120, chr_=0.7)
    assert told(acts) == [("tighten", "")]
    assert acts[0].at >= 65 * MINUTE + 5 * MINUTE
    assert controller.overlay.bits == 0
    assert run(controller, 200 * MINUTE, 600, chr_=0.7) == []  # never tighter than configured


def test_a_search_that_was_taken_back_is_loosened_again_later_each_time() -> None:
    """Traffic to which the search matters this much would have it go to and fro for ever."""
    controller = acting()
    acts = []
    for at in looks(0, 12 * 24 * 60, every=120):
        acts += controller.step(reading(at, chr_=0.7 if controller.overlay.bits else 0.1))
    loosened = [act.at for act in acts if act.what == "loosen"]
    gaps = [later - sooner for sooner, later in pairwise(loosened)]
    assert all(later >= sooner for sooner, later in pairwise(gaps))
    assert gaps[-1] >= 24 * HOUR
    assert len(loosened) < 20


def test_nothing_is_loosened_below_the_smallest_chunk_nor_if_that_is_forbidden() -> None:
    assert run(Controller(ACT, room=0), 0, 60, chr_=0.1) == []
    assert Controller(ACT, room=1).step(reading(0)) == []
    controller = Controller(ACT, room=1)
    run(controller, 0, 60, chr_=0.1)
    assert controller.overlay.bits == 1
    assert run(acting(hits={"most_bits": 0}), 0, 60, chr_=0.1) == []


def test_codes_that_do_not_pay_go_off_the_most_used_first_and_no_more_than_may() -> None:
    codes = {
        "R101": code(ld=0.0, share=0.2),
        "R102": code(ld=0.02, share=0.5),
        "R103": code(ld=-0.3, share=0.1),
        "R203": code(ld=0.1, share=0.1, off=0.5),
        "R307": code(ld=0.0, share=0.1),
    }
    controller = acting(latency={"most_off": 2})
    acts = run(controller, 0, 30, ld=-0.01, codes=codes)
    assert told(acts) == [("off", "R102"), ("off", "R101")]
    assert acts[0].at == 10 * MINUTE
    assert "50% of what is reused" in acts[0].why
    assert sorted(controller.overlay.codes) == ["R101", "R102"]


def test_where_the_95th_percentile_can_not_be_bounded_the_median_counts() -> None:
    unbounded = Figure(0.0, -1.0, float("inf"), 30)
    codes = {"R101": code()._replace(ld=unbounded, ld_median=figure(0.01))}
    assert told(run(acting(), 0, 10, ld=0.0, codes=codes)) == [("off", "R101")]


def test_consistency_that_falls_stops_all_within_the_minutes_that_are_configured() -> None:
    controller = acting()
    acts = run(controller, 0, 3, cs=0.7, codes=BAD)
    assert told(acts) == [("fallback", "")]
    assert acts[0].at == 3 * MINUTE
    overlay = controller.overlay
    assert overlay.fallback == 3 * MINUTE
    assert not any(overlay.lets(reason, "w") for reason in ("R101", "R203", "R999"))


def test_one_code_that_falls_goes_off_alone_while_all_together_are_well() -> None:
    controller = acting()
    codes = {"R101": code(share=0.95), "R203": code(cs=0.5, share=0.05)}
    assert told(run(controller, 0, 10, codes=codes)) == [("off", "R203")]
    assert controller.overlay.lets("R101", "w")
    assert not controller.overlay.lets("R203", "w")


def test_codes_come_back_one_by_one_and_the_bad_one_stays_off_ever_longer() -> None:
    controller = acting()
    run(controller, 0, 3, cs=0.7, codes=BAD)
    quiet = run(controller, 3 * MINUTE + EVERY, 56, cs=None, codes={})
    assert quiet == []
    mended = {"R101": code(cs=0.93), "R203": code(cs=0.6)}
    acts = run(controller, 60 * MINUTE, 24 * 60, cs=0.93, codes=mended)
    names = told(acts)
    assert names[:4] == [("try", "R101"), ("try", "R203"), ("again", "R203"), ("on", "R101")]
    assert names.index(("recover", "")) == 4
    assert controller.overlay.fallback is None
    again = [act.at for act in acts if (act.what, act.code) == ("try", "R203")]
    gaps = [later - sooner for sooner, later in pairwise(again)]
    assert all(later >= 1.9 * sooner for sooner, later in pairwise(gaps))
    assert ("on", "R203") not in names
    assert controller.overlay.lets("R999", "w")  # one that nobody knew is back with the end of the fallback


def test_a_code_is_back_only_above_the_higher_threshold() -> None:
    controller = acting(recovery={"try_minutes": 60})
    run(controller, 0, 3, cs=0.7, codes=BAD)
    between = {"R101": code(cs=0.84, off=0.005), "R203": code(cs=0.84, off=0.005)}
    acts = told(run(controller, 60 * MINUTE, 24 * 60, cs=0.84, codes=between))
    assert ("on", "R101") not in acts
    assert ("again", "R101") in acts  # the try ends all the same
    assert controller.overlay.fallback is not None


def test_the_try_of_a_code_that_did_not_pay_looks_at_latency() -> None:
    controller = acting()
    run(controller, 0, 10, ld=0.0, codes={"R101": code(ld=0.0)})
    start = 10 * MINUTE + HOUR
    acts = run(controller, start, 30, codes={"R101": code(ld=-0.06, off=0.005)})
    assert told(acts) == [("try", "R101")]  # sure to pay, yet not by enough
    acts = run(controller, start + 31 * MINUTE, 30, codes={"R101": code(ld=-0.2)})
    assert told(acts) == [("on", "R101")]


def test_a_code_that_was_off_lately_is_off_for_longer() -> None:
    controller = acting()
    bad, good = {"R203": code(cs=0.5)}, {"R203": code(cs=0.95)}
    pauses = []
    for day in range(4):
        run(controller, day * 6 * HOUR, 4, codes=bad)
        pauses.append(controller.overlay.codes["R203"].pause)
        run(controller, day * 6 * HOUR + 5 * MINUTE, 350, codes=good)
        if controller.overlay.codes:
            break
    assert pauses == [HOUR, 2 * HOUR, 4 * HOUR, 8 * HOUR]


def test_faults_open_the_breaker_and_their_end_closes_it() -> None:
    controller = acting()
    acts = run(controller, 0, 1, faults={"store"})
    assert told(acts) == [("break", "")]
    assert acts[0].why == "faults of store"
    assert controller.overlay.breaker == 30.0
    assert run(controller, 75, 1, faults={"engine"}, cs=0.5, codes=BAD) == []  # nothing else is judged meanwhile
    acts = run(controller, 150, 10)
    assert told(acts) == [("mend", "")]
    assert acts[0].at == 150 + 2 * MINUTE


def test_one_look_with_a_fault_is_none() -> None:
    controller = acting()
    for at in looks(0, 60):
        assert controller.step(reading(at, faults={"store"} if at % 60 == 0 else ())) == []


def test_a_breaker_that_opens_again_soon_stays_open_longer() -> None:
    controller = acting()
    times = []
    for turn in range(4):
        start = turn * 2 * HOUR
        run(controller, start, 1, faults={"engine"})
        (mended,) = run(controller, start + 75, 60)
        times.append(mended.at - start - 75)
    assert times == [2 * MINUTE, 4 * MINUTE, 8 * MINUTE, 16 * MINUTE]


def test_while_anything_is_held_back_the_hit_rate_is_not_judged() -> None:
    controller = acting()
    run(controller, 0, 3, cs=0.7, codes=BAD)
    acts = run(controller, 3 * MINUTE + EVERY, 50, chr_=0.0, cs=None, codes={})
    assert acts == []
    good = {"R101": code(), "R203": code()}
    acts = run(controller, 60 * MINUTE, 75, chr_=0.05, codes=good)
    assert ("recover", "") in told(acts)
    assert ("loosen", "") not in told(acts)


def test_no_more_acts_an_hour_than_may_be_but_those_that_stop_harm() -> None:
    controller = acting(acts_an_hour=1)
    assert told(run(controller, 0, 5, chr_=0.1)) == [("loosen", "")]
    assert told(run(controller, 6 * MINUTE, 3, cs=0.5, codes=BAD)) == [("fallback", "")]
    good = {"R101": code(), "R203": code()}
    acts = run(controller, 70 * MINUTE, 5 * 60, codes=good)
    assert told(acts)[:4] == [("try", "R101"), ("on", "R101"), ("try", "R203"), ("on", "R203")]
    gaps = [later.at - sooner.at for sooner, later in pairwise(acts)]
    assert min(gaps) > HOUR


def test_observing_it_proposes_each_act_once_while_it_is_called_for_and_does_nothing() -> None:
    controller = Controller(Controlling())
    acts = run(controller, 0, 600, cs=0.7, chr_=0.1, ld=0.0, codes={"R101": code(ld=0.0)})
    assert told(acts) == [("fallback", ""), ("loosen", ""), ("off", "R101")]
    assert controller.overlay is EMPTY
    assert run(controller, 601 * MINUTE, 60) == []
    assert told(run(controller, 700 * MINUTE, 60, cs=0.7)) == [("fallback", "")]


def test_who_takes_over_goes_on_where_the_other_was() -> None:
    first = acting()
    run(first, 0, 3, cs=0.7, codes=BAD)
    second = acting()
    second.adopt(Overlay.model_validate(first.overlay.model_dump()))
    good = {"R101": code(), "R203": code()}
    assert told(run(second, 70 * MINUTE, 30, codes=good))[-1] == ("recover", "")


def test_what_it_did_is_remembered_with_its_reason() -> None:
    controller = acting()
    run(controller, 0, 3, cs=0.7, codes=BAD)
    (noted,) = controller.overlay.acts
    assert (noted.at, noted.what) == (180.0, "fallback")
    assert noted.why == "CS 0.700 (0.690 to 0.710, of 200), below 0.820 for 3 min"


def test_another_share_in_the_file_holds_for_what_is_tried_already() -> None:
    controller = acting()
    run(controller, 0, 3, cs=0.7, codes=BAD)
    controller.words = Controlling.model_validate({"mode": "act", "recovery": {"share": 0.5}})
    controller.step(Reading(4 * MINUTE))
    assert controller.overlay.share == 0.5


def test_a_clock_that_is_set_back_keeps_nothing_off_for_ever() -> None:
    controller = acting()
    run(controller, 1_000_000, 3, cs=0.7, codes=BAD)
    acts = told(run(controller, 0, 5 * 60, codes={"R101": code(), "R203": code()}))
    assert acts[:2] == [("try", "R101"), ("try", "R203")]
