"""What replicas answer on their health path."""

from __future__ import annotations

import pytest

from gateway.symptoms import Reply
from gateway.symptoms.backend import SLOW, Plug
from tests.symptoms.facts import lights, replica, reply


@pytest.mark.parametrize(
    ("health", "light"),
    [
        (reply(), "green"),
        (reply(404), "green"),
        (reply(500), "red"),
        (reply(401), "red"),
        (reply(0, why="Connection refused"), "red"),
        (reply(seconds=SLOW + 0.1), "yellow"),
    ],
)
def test_each_answer_has_its_light(health: Reply, light: str) -> None:
    assert lights(Plug(), replicas=[replica(health=health), replica(1)]) == [light, "green"]


def test_without_backends_nobody_looks() -> None:
    assert lights(Plug()) == ["grey"]
