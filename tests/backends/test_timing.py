"""Deadlines."""

from __future__ import annotations

import asyncio

import pytest

from gateway.backends._timing import Clock, Timeouts, Watch

QUICK = Timeouts(connect=1, first_token=0.08, idle=0.08, total=0.4)


async def rung(timeouts: Timeouts, *, waiting: bool, pieces: int = 0) -> str | None:
    """The kind of the fault, if the clock expires within half a second."""
    watch = Watch(timeouts)
    task = asyncio.create_task(watch.run())
    expired = asyncio.Event()
    clock = Clock(timeouts, watch, expired.set)
    for _ in range(pieces):
        clock.begin()
        await asyncio.sleep(0.04)
        clock.end()
    if waiting and pieces:
        clock.begin()
    try:
        async with asyncio.timeout(0.5):
            await expired.wait()
        return clock.fault().kind
    except TimeoutError:
        return None
    finally:
        clock.stop()
        task.cancel()
        assert not watch.clocks


async def test_the_first_token_is_waited_for_only_so_long() -> None:
    assert await rung(QUICK, waiting=True) == "timeout_first_token"


async def test_between_two_pieces_only_so_long() -> None:
    assert await rung(QUICK, waiting=True, pieces=2) == "timeout_idle"


async def test_a_client_that_reads_slowly_is_not_the_upstream_s_fault() -> None:
    assert await rung(QUICK, waiting=False, pieces=1) is None


async def test_all_of_it_only_so_long_however_busily_it_goes_on() -> None:
    assert await rung(QUICK, waiting=True, pieces=12) == "timeout_total"


@pytest.mark.parametrize("seconds", [0, -1])
def test_no_limit_is_zero(seconds: float) -> None:
    with pytest.raises(ValueError, match="greater than 0"):
        Timeouts(idle=seconds)
