"""What /readyz says."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.symptoms.gateway import Plug
from tests.symptoms.facts import lights, reply, seen

READY = {"ready": True, "backends": {"up": True}, "revision": "abc", "store": True, "refine": True}


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (READY, ["green"]),
        (READY | {"ready": False, "backends": {"up": False}}, ["red"]),
        (READY | {"last_error": {"at": "x"}}, ["red"]),
        (READY | {"revision": "other"}, ["yellow"]),
        (READY | {"store": False}, ["yellow"]),
        (READY | {"refine": False, "store": False}, ["yellow", "yellow"]),
        ({}, ["red"]),
    ],
)
def test_each_word_has_its_light(told: dict[str, Any], expected: list[str]) -> None:
    assert lights(Plug(), gateway=reply(told=told), address="http://x") == expected


def test_who_is_down_is_named_and_who_does_not_answer_too() -> None:
    (sign,) = seen(Plug(), gateway=reply(503, told=READY | {"ready": False, "backends": {"a": False, "b": True}}))
    assert sign.seen.en == "not ready, down: a"
    (sign,) = seen(Plug(), gateway=reply(0, why="Connection refused"))
    assert (sign.light, "Connection refused" in sign.seen.zh) == ("red", True)
    assert lights(Plug()) == ["grey"]
