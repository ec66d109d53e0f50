"""A client that has heard nothing for a while is told that its answer is on the way."""

from __future__ import annotations

import asyncio

from gateway.pulse import Pulse
from gateway.surfaces import sse


class Told:
    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    async def write(self, piece: bytes) -> None:
        self.pieces.append(piece)


async def test_it_beats_when_nothing_was_told_for_long_enough() -> None:
    told, pulse = Told(), Pulse(0.01)
    await pulse.beat(told.write, speaks=False)
    assert told.pieces == []
    await asyncio.sleep(0.02)
    await pulse.beat(told.write, speaks=True)
    await pulse.beat(told.write, speaks=False)
    assert told.pieces == []
    await asyncio.sleep(0.02)
    await pulse.beat(told.write, speaks=False)
    await pulse.beat(told.write, speaks=False)
    assert told.pieces == [sse.KEEP_ALIVE]


async def test_it_beats_through_work_however_that_ends() -> None:
    told, work = Told(), asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_later(0.05, work.set_exception, ValueError("no"))
    await Pulse(0.01).through(work, told.write)
    assert set(told.pieces) == {sse.KEEP_ALIVE}
    assert isinstance(work.exception(), ValueError)
    told.pieces.clear()
    await Pulse(0.01).through(work, told.write)
    assert told.pieces == []
