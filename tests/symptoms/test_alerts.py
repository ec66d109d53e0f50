"""What Prometheus says."""

from __future__ import annotations

from gateway.symptoms import Alert
from gateway.symptoms.alerts import Plug
from tests.symptoms.facts import lights, reply


def test_alerts_are_as_bad_as_they_say_and_silence_is_green() -> None:
    assert lights(Plug(), prometheus=reply()) == ["green"]
    firing = [Alert("A", "critical", "a is down"), Alert("B", "warning", ""), Alert("C", "", "c")]
    assert lights(Plug(), prometheus=reply(), alerts=firing) == ["red", "yellow", "yellow"]


def test_a_prometheus_that_can_t_be_asked_is_yellow_and_none_is_grey() -> None:
    assert lights(Plug(), prometheus=reply(0, why="Connection refused")) == ["yellow"]
    assert lights(Plug(), prometheus=reply(503)) == ["yellow"]
    assert lights(Plug()) == ["grey"]
