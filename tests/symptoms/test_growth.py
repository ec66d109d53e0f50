"""KV caches that fill up, throw out, are held by nobody, or by ever longer requests."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.symptoms import Trend
from gateway.symptoms.growth import Plug
from tests.symptoms.facts import lights, look, replica, seen


def of(*looks: dict[str, Any]) -> list[str]:
    return lights(Plug(), replicas=[replica(looks=[look(n, **fields) for n, fields in enumerate(looks)])])


@pytest.mark.parametrize(
    ("looks", "light"),
    [
        ([{}, {}, {}], "green"),
        ([{"preempted": 7}, {"preempted": 7}], "green"),
        ([{"preempted": 7}, {"preempted": 9}], "red"),
        ([{"used": 0.95, "waiting": 3}, {"used": 0.97, "waiting": 3}], "red"),
        ([{"used": 0.95}, {"used": 0.97}], "yellow"),
        ([{"used": 0.95}, {"used": 0.4, "running": 20}], "green"),
        ([{"running": 0}, {"running": 0}], "yellow"),
        ([{"running": 0}], "green"),
        ([{"running": 0, "used": 0.01}, {"running": 0, "used": 0.01}], "green"),
        ([{"running": 1}, {"running": 1}], "yellow"),  # 2,000 tokens held, requests that ended had 550
        ([{"running": 1, "prompts": (5.0, 10.0)}], "green"),  # too few have ended
        ([{"running": 1, "capacity": None}], "green"),
    ],
)
def test_each_course_has_its_light(looks: list[dict[str, Any]], light: str) -> None:
    assert of(*looks) == [light]


def test_how_much_longer_requests_have_become_is_told() -> None:
    (sign,) = seen(Plug(), replicas=[replica(looks=[look(running=1)])])
    assert "3.6 times" in sign.seen.en


def test_what_prometheus_remembers_tells_about_hours() -> None:
    grown, same = Trend("e:1", 0.01, 0.016), Trend("e:2", 0.01, 0.014)
    signs = seen(Plug(), trends=[grown, same, Trend("e:3", 0.0, 0.5)])
    assert [sign.light for sign in signs] == ["yellow", "green", "green"]
    assert "1.6%" in signs[0].seen.en


def test_an_engine_that_tells_nothing_is_not_looked_at() -> None:
    assert lights(Plug(), replicas=[replica(), replica(1, looks=[look(used=None)])]) == ["grey"]
