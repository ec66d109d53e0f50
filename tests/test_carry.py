"""Carrying a stream to its end. What its events become stands in test_relay.py."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from gateway import carry
from gateway.ledger import Trip
from gateway.types import Draft
from tests.rig import DONE, chat_stream, delta
from tests.sight import words
from tests.wires import Pieces, carried, exchange, relay

BLOCK = words("bomb")


class Kept(bytearray):
    """What was written."""

    async def write(self, piece: bytes) -> None:
        self.extend(piece)


def test_a_stream_s_pieces_leave_as_they_come() -> None:
    got = carried([delta("one "), delta("two "), delta(finish="stop"), DONE])
    assert got.pieces == [delta("one "), delta("two "), delta(finish="stop"), DONE]


def test_nothing_is_sent_while_nothing_may_leave() -> None:
    assert carried([delta("bo"), delta("mb")], BLOCK).pieces[0].endswith(DONE)


def test_the_end_of_the_body_is_read_so_that_the_connection_can_be_used_again() -> None:
    answer = Pieces([*chat_stream("ok"), b""])

    async def go() -> None:
        await carry.stream(answer, relay([], exchange(), Draft()), Trip(0.0), Kept().write)

    asyncio.run(go())
    assert answer.read_out


def test_a_body_that_does_not_end_behind_done_is_not_waited_for() -> None:
    class Endless(Pieces):
        async def chunks(self) -> AsyncIterator[bytes]:
            for piece in self.pieces:
                yield piece
            await asyncio.Event().wait()

    async def go() -> bytes:
        kept = Kept()
        await carry.stream(Endless(chat_stream("ok")), relay([], exchange(), Draft()), Trip(0.0), kept.write)
        return bytes(kept)

    assert asyncio.run(go()) == b"".join(chat_stream("ok"))


def test_done_is_not_said_of_an_answer_that_never_began() -> None:
    got = carried([])
    assert got.body == b""
    assert got.fault is not None


def test_the_first_piece_s_time_and_the_most_that_waited_are_noted() -> None:
    trip = Trip(0.0)
    trip.waits(3)
    trip.sent()
    first = trip.first
    trip.waits(1)
    trip.sent()
    assert first is not None
    assert (trip.first, trip.held) == (first, 3)
