"""The shapes that many logs share."""

from __future__ import annotations

import pytest

from gateway.assess import _line


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        (1_700_000_000, 1_700_000_000.0),
        (1_700_000_000_500, 1_700_000_000.5),
        ("1700000000.25", 1_700_000_000.25),
        (1_700_000_000_000_000, 1_700_000_000.0),
        ("2023-11-14T22:13:20Z", 1_700_000_000.0),
        ("2023-11-14T22:13:20", 1_700_000_000.0),
        ("2023-11-15T06:13:20+08:00", 1_700_000_000.0),
        ("yesterday", None),
        (True, None),
        (-1, None),
        (None, None),
    ],
)
def test_a_time_is_read_however_it_is_told(told: object, seconds: float | None) -> None:
    assert _line.time(told) == seconds


def test_texts_are_found_in_messages_parts_and_items() -> None:
    told = [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image_url"}]}, "b", {"output": ["c"]}]
    assert list(_line.texts(told)) == ["a", "b", "c"]


@pytest.mark.parametrize(("told", "found"), [("12", 12), (3, 3), (0, 0), (-1, None), (True, None), ("x", None)])
def test_a_count_is_a_number_that_can_be_one(told: object, found: int | None) -> None:
    assert _line.count(told) == found
