"""Clocks that differ, and how unsure that is."""

from __future__ import annotations

import pytest

from gateway.symptoms import Server
from gateway.symptoms.clock import Plug
from tests.symptoms.facts import NOW, lights, replica, reply, seen


@pytest.mark.parametrize(
    ("off", "light"),
    [(0.0, "green"), (-2.0, "green"), (3.0, "yellow"), (-4.0, "yellow"), (60.0, "red"), (-60.0, "red")],
)
def test_each_difference_has_its_light(off: float, light: str) -> None:
    assert lights(Plug(), replicas=[replica(health=reply(clock=NOW + off))]) == [light]


def test_a_slow_answer_leaves_more_doubt() -> None:
    assert lights(Plug(), replicas=[replica(health=reply(clock=NOW + 3, seconds=4.0))]) == ["green"]


def test_who_is_off_is_named_whoever_it_is() -> None:
    signs = seen(Plug(), servers=[Server("redis (store)", ahead=-9.0), Server("redis (review queue)", ahead=0.1)])
    assert [(sign.about, sign.light) for sign in signs] == [("redis (store)", "yellow")]
    assert "-9.0 s" in signs[0].seen.en
    assert lights(Plug(), gateway=reply(clock=NOW + 99), address="x", prometheus=reply()) == ["red"]


def test_where_nobody_tells_the_time_nobody_looks() -> None:
    assert lights(Plug(), replicas=[replica(health=reply(clock=None))]) == ["grey"]
