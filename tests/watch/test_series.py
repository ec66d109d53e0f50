"""Figures over sliding windows: of what, how bounded, and what is forgotten."""

from __future__ import annotations

import math

import pytest

from gateway.types import Reuse
from gateway.watch.pairs import Pair
from gateway.watch.series import MOST_READ, MOST_SECONDS, Figure, Series, Windows

NOW = 1_000_000.0


def pair(age: float = 0.0, with_: float = 0.7, alike: float | None = 0.9, **fields: object) -> Pair:
    """A pair of `age` seconds ago whose time without is a second."""
    told: dict[str, object] = {"reason": "R101", "arm": "now", "mode": "prefix", "fair": True, **fields}
    times = {"first": (with_, 1.0), "total": (2 * with_, 2.0)}
    return Pair(at=NOW - age, alike=alike, **{**times, **told})  # type: ignore[arg-type]


def series(*pairs: Pair) -> Series:
    made = Series()
    for one in pairs:
        made.add_pair(one)
    return made


def figure(told: Figure | None) -> Figure:
    assert told is not None
    assert told.low <= told.value <= told.high
    return told


def test_without_samples_there_is_no_figure() -> None:
    empty = Series()
    told = empty.reading(NOW, Windows())
    assert (told.chr, told.ld, told.cs, told.ld_median, told.ld_total, told.top1, told.kl) == (None,) * 7
    assert (told.at, told.by_code, told.faults) == (NOW, {}, frozenset())


def test_the_hit_rate_is_of_the_window_alone() -> None:
    made = Series()
    for age in range(100, 0, -1):
        made.add_lookup(NOW - age, donor=age > 50)
        made.add_lookup(NOW - age, donor=False)
    assert figure(made.chr(NOW, 1000)).value == 0.25
    assert figure(made.chr(NOW, 1000)).count == 200
    assert figure(made.chr(NOW, 50)).value == 0
    assert made.chr(NOW + 500, 100) is None


def test_a_clock_that_is_set_back_loses_no_lookup() -> None:
    made = Series()
    made.add_lookup(NOW, donor=True)
    made.add_lookup(NOW - 3, donor=False)
    assert figure(made.chr(NOW, 60)).count == 2


def test_latency_is_of_fair_pairs_and_consistency_of_all() -> None:
    made = series(*(pair(with_=0.5) for _ in range(40)), *(pair(with_=9.0, alike=0.5, fair=False) for _ in range(40)))
    median = figure(made.ld(NOW, 60, quantile=0.5))
    assert (median.value, median.count) == (-0.5, 40)
    assert median.high < 0
    assert figure(made.cs(NOW, 60)).value == pytest.approx(0.7)
    assert figure(made.cs(NOW, 60)).count == 80
    assert figure(made.ld(NOW, 60, of="total", quantile=0.5)).value == -0.5


def test_few_pairs_allow_no_verdict() -> None:
    few = series(*(pair() for _ in range(5)))
    told = figure(few.ld(NOW, 60))
    assert (told.low, told.high) == (-1, math.inf)
    assert told.value == pytest.approx(-0.3)
    assert figure(few.cs(NOW, 60)).low < 0.6


def test_a_time_of_nothing_is_no_sample_of_latency() -> None:
    made = series(pair(with_=0.0), pair())
    assert figure(made.ld(NOW, 60)).count == 1


def test_each_code_and_each_arm_has_its_own_figures() -> None:
    made = series(
        *(pair(with_=0.5, alike=1.0) for _ in range(10)),
        *(pair(with_=2.0, alike=0.5, reason="R203") for _ in range(10)),
        *(pair(with_=1.0, alike=None, reason="R203", arm="new") for _ in range(10)),
    )
    assert figure(made.ld(NOW, 60, "R101", quantile=0.5)).value == -0.5
    assert figure(made.ld(NOW, 60, "R203", "now", quantile=0.5)).value == 1
    assert figure(made.ld(NOW, 60, arm="new", quantile=0.5)).value == 0
    assert made.cs(NOW, 60, arm="new") is None
    assert [one.arm for one in made.pairs(NOW, 60, "R203")] == ["now"] * 10 + ["new"] * 10
    for reason in ("R101", "R101", "R101", "R307"):
        made.add_reuse(NOW, Reuse("e", "c", "u", "kept", "", donor_reason=reason, injected=100))
    made.add_reuse(NOW, Reuse("e", "c", "u", "kept", "", donor_reason="R900", declined="cached"))
    told = made.reading(NOW, Windows()).by_code
    assert {reason: one.share for reason, one in told.items()} == {"R101": 0.75, "R203": 0, "R307": 0.25}
    assert figure(told["R203"].cs).value == 0.5
    assert figure(told["R101"].ld_median).value == -0.5
    assert (told["R307"].ld, told["R307"].cs) == (None, None)


def test_a_reading_tells_all_figures_at_a_time() -> None:
    made = series(*(pair(top1=1.0, kl=0.25) for _ in range(8)), pair(age=5000))
    made.add_lookup(NOW, donor=True)
    told = made.reading(NOW, Windows(), frozenset({"store"}))
    assert figure(told.chr).value == 1
    assert figure(told.ld).count == figure(told.cs).count == figure(told.top1).count == 8
    assert figure(told.ld_total).value == pytest.approx(-0.3)
    assert figure(told.ld_median).high == pytest.approx(-0.3)
    assert figure(told.kl) == (0.25, 0, math.inf, 8)
    assert told.faults == {"store"}


def test_what_is_read_again_is_read_of_the_pairs_that_are_there_now() -> None:
    made = series(*(pair(age=30) for _ in range(10)))
    assert figure(made.cs(NOW, 60)) is made.cs(NOW, 60)
    made.add_pair(pair(alike=0.0))
    assert figure(made.cs(NOW, 60)).value == pytest.approx(9 / 11)
    assert figure(made.cs(NOW, 20)).value == 0
    assert figure(made.cs(NOW, 60, "R101")).value == pytest.approx(9 / 11)


def test_a_copy_stays_as_it_was() -> None:
    made = series(pair())
    made.add_lookup(NOW, donor=True)
    copy = made.copied()
    made.add_pair(pair())
    made.add_lookup(NOW, donor=False)
    assert figure(copy.cs(NOW, 60)).count == figure(copy.chr(NOW, 60)).count == 1
    assert figure(made.cs(NOW, 60)).count == 2


def test_what_is_held_is_bounded() -> None:
    made = Series(most=2000)
    for number in range(3000):
        made.add_pair(pair(age=3000 - number, alike=0.0 if number < 2500 else 1.0))
        made.add_reuse(NOW, Reuse("e", "c", "u", "kept", "", donor_reason="R101", injected=1))
    for second in range(MOST_SECONDS + 100):
        made.add_lookup(NOW + second, donor=True)
    assert len(made.pairs(NOW, math.inf)) == 2000
    assert figure(made.cs(NOW, math.inf)) == figure(made.cs(NOW, math.inf))
    assert figure(made.cs(NOW, math.inf)).count == MOST_READ
    assert figure(made.cs(NOW, math.inf)).value == 0.5
    assert figure(made.chr(NOW + MOST_SECONDS, math.inf)).count == MOST_SECONDS


def test_codes_that_stand_apart_have_figures_of_their_own_and_do_not_count_in_those_of_all() -> None:
    some = series(*(pair(n, alike=0.9) for n in range(10)), *(pair(n, alike=0.2, reason="R307") for n in range(10)))
    together, apart = (some.reading(NOW, Windows(), apart=codes) for codes in (frozenset(), frozenset({"R307"})))
    assert figure(together.cs).value == pytest.approx(0.55)
    assert figure(apart.cs).value == pytest.approx(0.9)
    assert figure(apart.cs).count == 10
    assert figure(apart.by_code["R307"].cs).value == pytest.approx(0.2)
    assert len(some.pairs(NOW, 100)) == 20
    old = series(*(pair(age, reason="R307") for age in range(0, 20_000, 1000)))
    assert figure(old.reading(NOW, Windows()).by_code["R307"].cs).count == 4
    assert figure(old.reading(NOW, Windows(), apart=frozenset({"R307"})).by_code["R307"].cs).count == 20
