"""Room in the pools."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.symptoms.pool import Plug
from tests.symptoms.facts import lights, plugin, replica, reply


@pytest.mark.parametrize(
    ("pool", "light"),
    [
        ({"bytes": 1, "size": 100, "entries": {"kept": 3}}, "green"),
        ({"bytes": 96, "size": 100, "entries": {"kept": 3}}, "yellow"),
        ({"bytes": 1, "size": 100, "entries": {"kept": 10, "pending": 20}}, "yellow"),
        ({"bytes": 1, "size": 100, "entries": {"pending": 20}}, "green"),  # too few to tell
        ({"bytes": 0, "size": 0}, "grey"),
        ({}, "grey"),
    ],
)
def test_each_pool_has_its_light(pool: dict[str, Any], light: str) -> None:
    assert lights(Plug(), replicas=[replica(plugin=plugin(pool=pool))]) == [light]


def test_who_does_not_tell_is_not_looked_at() -> None:
    assert lights(Plug(), replicas=[replica(plugin=None), replica(1, plugin=reply(404))]) == ["grey"]
