"""What Redis servers say of themselves."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.symptoms import Server
from gateway.symptoms.redis import Plug
from tests.symptoms.facts import lights

GOOD = {"milliseconds": 0.2, "policy": "noeviction", "used": 1 << 20, "most": 1 << 30, "ahead": 0.0}


@pytest.mark.parametrize(
    ("use", "fields", "light"),
    [
        ("redis (store)", {}, "green"),
        ("redis (store)", {"why": "unreachable"}, "red"),
        ("redis (store)", {"milliseconds": 9.0}, "yellow"),
        ("redis (store)", {"used": 1000 << 20}, "yellow"),
        ("redis (store)", {"most": 0}, "yellow"),
        ("redis (store)", {"policy": "allkeys-lru"}, "green"),
        ("redis (review queue)", {"policy": "allkeys-lru"}, "red"),
        ("redis (review queue)", {"policy": None, "most": 0}, "green"),  # it doesn't tell
    ],
)
def test_each_word_has_its_light(use: str, fields: dict[str, Any], light: str) -> None:
    assert lights(Plug(), servers=[Server(use, **{**GOOD, **fields})]) == [light]


def test_where_none_is_named_nobody_looks() -> None:
    assert lights(Plug()) == ["grey"]
