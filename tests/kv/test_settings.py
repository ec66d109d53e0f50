"""What the operator sets is taken or refused by name; what is not set has a sane value."""

from __future__ import annotations

from pathlib import Path

import pytest

from gateway.kv.settings import Settings


def test_nothing_set_is_fine() -> None:
    assert Settings.read({}) == Settings()


def test_everything_can_be_set() -> None:
    told = Settings.read(
        {
            "RETRACE_POOL": "/dev/shm/mine",
            "RETRACE_POOL_GIB": "0.5",
            "RETRACE_POOL_TTL": "60",
            "RETRACE_POOL_HOLD": "5",
            "RETRACE_POOL_DISK": "/var/retrace",
            "RETRACE_POOL_DISK_GIB": "2",
            "RETRACE_ENGINE_SECRET": "s",
        }
    )
    assert told == Settings(Path("/dev/shm/mine"), 1 << 29, 60, 5, Path("/var/retrace"), 2 << 30, "s")


@pytest.mark.parametrize("name", ["RETRACE_POOL_GIB", "RETRACE_POOL_TTL", "RETRACE_POOL_HOLD", "RETRACE_POOL_DISK_GIB"])
@pytest.mark.parametrize("value", ["much", "0", "-1", "nan", "inf"])
def test_what_makes_no_sense_is_named(name: str, value: str) -> None:
    with pytest.raises(ValueError, match=name):
        Settings.read({name: value})
