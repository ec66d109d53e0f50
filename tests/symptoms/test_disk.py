"""Room, and the time that a synced write takes."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.symptoms import Folder
from gateway.symptoms.disk import Plug
from tests.symptoms.facts import lights

GOOD = {"free": 50, "total": 100, "fsync": 1.0}


@pytest.mark.parametrize(
    ("fields", "light"),
    [
        ({}, "green"),
        ({"why": "Permission denied"}, "red"),
        ({"free": 8}, "yellow"),
        ({"free": 2}, "red"),
        ({"fsync": 80.0}, "yellow"),
        ({"fsync": 80.0, "memory": True}, "green"),
        ({"fsync": None}, "green"),
    ],
)
def test_each_folder_has_its_light(fields: dict[str, Any], light: str) -> None:
    assert lights(Plug(), folders=[Folder("audit", "/var", **{**GOOD, **fields})]) == [light]


def test_where_none_is_named_nobody_looks() -> None:
    assert lights(Plug()) == ["grey"]
