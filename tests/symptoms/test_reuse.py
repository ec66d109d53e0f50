"""What holds reuse back: the gateway's own hand, and policies that nobody has confirmed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gateway.doctor.http import Asker
from gateway.symptoms.reuse import Plug
from tests.rig import answers, completion, gateway, upstream
from tests.symptoms.facts import lights, reply, seen

HAND = {"mode": "act", "fallback": False, "breaker": "closed", "off": [], "kept": True}
POLICIES: dict[str, Any] = {"unconfirmed": {}, "trials": {}, "turned_back": []}


@pytest.mark.parametrize(
    ("hand", "policies", "words"),
    [
        ({}, {}, []),
        ({"fallback": True}, {}, ["fallen back"]),
        ({"breaker": "open", "off": ["R101", "R203"]}, {}, ["off: an engine", "R101, R203"]),
        ({"kept": False}, {}, ["restart"]),
        ({}, {"unconfirmed": {"R203": "why"}}, ["not confirmed, so off: R203"]),
        ({}, {"fault": "read-only"}, ["read-only"]),
    ],
)
def test_each_thing_that_is_held_back_is_yellow(
    hand: dict[str, Any], policies: dict[str, Any], words: list[str]
) -> None:
    told = {"controller": HAND | hand, "policies": POLICIES | policies}
    signs = seen(Plug(), gateway=reply(told=told), address="http://x")
    assert [sign.light for sign in signs] == (["yellow"] * len(words) if words else ["green"])
    assert [word for word, sign in zip(words, signs, strict=False) if word not in sign.seen.en] == []


def test_a_gateway_that_does_not_tell_is_not_looked_at() -> None:
    assert lights(Plug()) == ["grey"]
    assert lights(Plug(), gateway=reply(told={"ready": True})) == ["grey"]


async def test_a_real_gateway_tells_it(tmp_path: Path) -> None:
    async with upstream(answers(completion("x"))) as (url, _), gateway(tmp_path, [url]) as running, Asker() as asker:
        told = await asker.ask(f"{running.url}/readyz")
    assert lights(Plug(), gateway=told, address=running.url) == ["green"]
