"""Simulated days are what they say they are: the same seed the same day, and what is wrong shows in the figures."""

from __future__ import annotations

from pathlib import Path

from gateway.overlay import Brake, Overlay
from gateway.watch.acts import Act
from gateway.watch.control import Controlling
from gateway.watch.series import Series
from tests.bench import _badday_plot as plot
from tests.bench.badday import timeline
from tests.bench.days import DAY, HOUR, KINDS, MONDAY, SCRAPE, Kind, Trouble, World, clock, days
from tests.bench.watch_hand import CASES, due, to_and_fro, when

WORDS = Controlling(mode="act")
BAD = Trouble(11 * HOUR, 12 * HOUR, "rules", kinds={code: Kind(k.share, k.ld, 0.5) for code, k in KINDS.items()})


def test_the_same_seed_is_the_same_day_and_another_is_another() -> None:
    one, same, other = (list(days(World(seed), WORDS, 10 * HOUR, HOUR)) for seed in (1, 1, 2))
    assert [moment.reading for moment in one] == [moment.reading for moment in same]
    assert [moment.reading for moment in one] != [moment.reading for moment in other]


def test_traffic_has_its_days_and_weeks() -> None:
    world = World(0)
    noon, night, sunday = (world.truth(MONDAY + at).traffic for at in (13 * HOUR, 3 * HOUR, 6 * DAY + 13 * HOUR))
    assert noon > 2 * night
    assert noon > 2 * sunday
    assert (clock(MONDAY + 6 * DAY + 13.5 * HOUR), clock(MONDAY)) == ("Sun 13:30", "Mon 00:00")


def test_what_is_held_back_is_neither_reused_nor_measured() -> None:
    brake = Brake(cause="consistency", since=0, pause=1, next=1)
    for overlay in (Overlay(breaker=1.0), Overlay(fallback=1.0), Overlay(codes=dict.fromkeys(KINDS, brake))):
        series, world = Series(), World(0)
        for minute in range(30):
            world.minute(series, MONDAY + 12 * HOUR + minute * SCRAPE, overlay)
        hits = series.chr(MONDAY + 12.5 * HOUR, HOUR)
        assert hits is not None
        assert (hits.value, series.pairs(0, 1e12)) == (0, [])


def test_trouble_is_seen_acted_on_and_told(tmp_path: Path) -> None:
    moments = list(days(World(3, (BAD,)), WORDS, 10 * HOUR, 2.5 * HOUR))
    acted, expected = when(moments, "fallback"), due(moments, CASES[0])
    assert acted == expected
    assert acted is not None
    assert 60 < acted < 120  # an hour after ten it begins, within the hour it is noticed
    assert to_and_fro(moments) == 0
    told = timeline(moments, (BAD,))
    assert [at for at, _ in told] == sorted(at for at, _ in told)
    assert sum("fallback" in line for _, line in told) == 1
    assert sum("the truth" in line for _, line in told) == 2
    plot.draw(tmp_path / "day.png", moments, (BAD,), plot.ENGLISH, None)
    assert (tmp_path / "day.png").read_bytes().startswith(b"\x89PNG")


def test_going_to_and_fro_would_be_counted() -> None:
    (moment,) = list(days(World(0), WORDS, 10 * HOUR, SCRAPE))
    there, back = Act(0, "off", "R101"), Act(1, "on", "R101")
    flips = [moment._replace(acts=[act]) for act in (there, back, there)]
    assert to_and_fro(flips) == 1
    assert to_and_fro(flips[:2]) == 0
