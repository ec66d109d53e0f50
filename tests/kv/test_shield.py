"""A fault of ours is counted and told, and goes no further."""

from __future__ import annotations

import logging

import pytest

from gateway.kv.shield import Shield
from gateway.kv.stats import Counts


def test_a_fault_ends_at_the_shield(caplog: pytest.LogCaptureFixture) -> None:
    counts = Counts()
    shield = Shield(counts)
    with shield("load") as attempt:
        raise ValueError("torn")
    assert attempt.failed
    assert counts.take() == {"faults": {"load": 1}}
    assert "load" in caplog.text
    assert "torn" in caplog.text


def test_without_a_fault_nothing_is_counted() -> None:
    counts = Counts()
    with Shield(counts)("load") as attempt:
        pass
    assert not attempt.failed
    assert counts.take() == {}


@pytest.mark.parametrize("end", [KeyboardInterrupt, SystemExit])
def test_the_end_of_the_process_is_not_stopped(end: type[BaseException]) -> None:
    counts = Counts()
    with pytest.raises(end), Shield(counts)("load"):
        raise end
    assert counts.take() == {}


def test_a_hook_that_fails_all_the_time_does_not_fill_the_log(caplog: pytest.LogCaptureFixture) -> None:
    counts = Counts()
    shield = Shield(counts)
    with caplog.at_level(logging.ERROR):
        for _ in range(5):
            with shield("load"):
                raise ValueError
        with shield("save"):
            raise ValueError
    assert [record.args for record in caplog.records] == [("load",), ("save",)]
    assert counts.take() == {"faults": {"load": 5, "save": 1}}
