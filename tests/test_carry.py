"""Carrying a stream to its end. What its events become stands in test_relay.py."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from gateway import carry
from gateway.errors import UpstreamFault
from gateway.ledger import Trip
from gateway.metrics import Metrics
from gateway.refine.ask import Post, Sent
from gateway.refine.refiner import Refiner
from gateway.refine.review import Review
from gateway.relay import Manner, Relay
from gateway.surfaces import Asking
from gateway.types import Draft, Outcome
from tests.refine.matters import chat, file, matter
from tests.refine.rigs import ALWAYS, ANSWER, RATE, ZH_ANSWER, ZH_RATE, review
from tests.rig import DONE, chat_stream, delta, payloads, said, until, usage_event
from tests.sight import lanes, words
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


# With a review.


class Way(NamedTuple):
    """A stream on its way through a review: who is told what, and what became of it."""

    relay: Relay
    review: Review
    trip: Trip
    kept: Kept

    async def carry(self, *pieces: bytes) -> bytes:
        await carry.stream(Pieces(pieces), self.relay, self.trip, self.kept.write, self.review)
        return bytes(self.kept)


@asynccontextmanager
async def under_review(post: Post, choices: int = 1, **fields: Any) -> AsyncIterator[Way]:
    """A way on which every answer is read once more by `post`."""
    refiner, told = Refiner(Metrics(), post, lambda: 0), file(tiers=[ALWAYS], cache=None, **fields)
    await refiner.apply(told, Path())
    one, trip = matter(chat("?", n=choices), told, stream=True), Trip(0.0)
    looked = Review(refiner, one, trip.draft)
    manner = Manner(looked.hold, True)
    yield Way(
        Relay(one.surface, one.exchange, trip.draft, lambda role: lanes(role=role), manner=manner), looked, trip, Kept()
    )
    await refiner.stop()


class Reader:
    """Reads answers once more, as soon as it may, and remembers what it was asked."""

    def __init__(self, *corrections: dict[str, str], go: asyncio.Event | None = None) -> None:
        self._corrections, self._go = corrections, go
        self.asked: list[Asking] = []
        self.left = False  # nobody waits for it any more

    async def __call__(self, _tenant: str, asking: Asking, _backend: str | None) -> Sent:
        self.asked.append(asking)
        try:
            if self._go is not None:
                await self._go.wait()
        except asyncio.CancelledError:
            self.left = True
            raise
        return Sent("up", 200, review(*self._corrections))


@pytest.mark.parametrize(("answer", "rate"), [(ANSWER, RATE), (ZH_ANSWER, ZH_RATE)])
@pytest.mark.parametrize("at_once", [False, True])
async def test_the_review_says_how_the_answer_ends(answer: str, rate: dict[str, str], at_once: bool) -> None:
    events = chat_stream(answer[:9], answer[9:])
    for delivery in ("live", "hold"):
        reader = Reader(rate)
        async with under_review(reader, delivery=delivery) as way:
            body = await way.carry(*([b"".join(events)] if at_once else events))
        assert rate["fixed"] in said(body)
        assert said(body).startswith(answer) is (delivery == "live")
        assert body.endswith(usage_event() + DONE)
        assert body.count(DONE) == 1
        assert len(reader.asked) == 1
        assert way.trip.draft.refined[0].outcome is Outcome.CORRECTED


@pytest.mark.parametrize("at_once", [False, True])
async def test_live_nothing_but_the_end_waits_for_it(at_once: bool) -> None:
    go = asyncio.Event()
    reader = Reader(RATE, go=go)
    events = chat_stream(ANSWER)
    async with under_review(reader) as way:
        carrying = asyncio.create_task(way.carry(*([b"".join(events)] if at_once else events)))
        await until(lambda: reader.asked)
        assert bytes(way.kept) == b"".join(events[:2])
        assert way.trip.first is not None
        go.set()
        assert (await carrying).endswith(DONE)


async def test_held_the_first_piece_is_the_answer() -> None:
    go = asyncio.Event()
    reader = Reader(go=go)
    async with under_review(reader, delivery="hold") as way:
        carrying = asyncio.create_task(way.carry(*chat_stream(ANSWER)))
        await until(lambda: reader.asked)
        assert (bytes(way.kept), way.trip.first) == (b"", None)
        go.set()
        assert await carrying == b"".join(chat_stream(ANSWER))
        assert way.trip.first is not None


async def test_meanwhile_the_client_is_kept_alive() -> None:
    go = asyncio.Event()
    reader = Reader(go=go)
    async with under_review(reader, delivery="hold", keep_alive_seconds=0.01) as way:
        carrying = asyncio.create_task(way.carry(*chat_stream(ANSWER)))
        await until(lambda: way.kept.count(b": keep-alive\n") > 2)
        go.set()
        assert (await carrying).replace(b": keep-alive\n", b"") == b"".join(chat_stream(ANSWER))


async def test_a_client_that_leaves_ends_it() -> None:
    reader = Reader(go=asyncio.Event())

    async def gone(_piece: bytes) -> None:
        if reader.asked:
            raise ConnectionResetError

    async with under_review(reader, delivery="hold", keep_alive_seconds=0.01) as way:
        with pytest.raises(ConnectionResetError):
            await carry.stream(Pieces(chat_stream(ANSWER)), way.relay, way.trip, gone, way.review)
        await until(lambda: reader.left)


BROKEN: dict[str, tuple[list[bytes], Callable[[bytes], object]]] = {
    "no end": ([delta(ANSWER)], lambda body: said(body) == ANSWER and DONE not in body),
    "an error": ([delta(ANSWER), b'data: {"error": {"message": "x"}}\n\n'], lambda body: b'"error"' in body),
    "one of two": ([delta(ANSWER), delta("x", 1), delta(finish="stop")], lambda body: said(body, 1) == "x"),
    "no reason": ([delta(ANSWER), DONE], lambda body: said(body) == ANSWER and body.endswith(DONE)),
    "nothing": ([], lambda body: body == b""),
}


@pytest.mark.parametrize("delivery", ["live", "hold"])
@pytest.mark.parametrize("how", BROKEN)
async def test_an_answer_that_did_not_come_to_its_end_is_not_read(how: str, delivery: str) -> None:
    pieces, right = BROKEN[how]
    reader = Reader(RATE)
    async with under_review(reader, choices=2 if how == "one of two" else 1, delivery=delivery) as way:
        with suppress(UpstreamFault):
            await way.carry(*pieces)
    assert right(bytes(way.kept))
    assert reader.asked == []
    assert way.trip.draft.refined == {}


async def test_of_two_choices_each_is_read_once_both_have_ended() -> None:
    reader = Reader(RATE)
    ends = [delta(finish="stop", index=1), usage_event(), DONE]
    async with under_review(reader, choices=2, delivery="hold", marks="clean") as way:
        body = await way.carry(delta(ANSWER), delta(ZH_ANSWER, 1), delta(finish="stop"), *ends)
    assert (said(body, 0), said(body, 1)) == (ANSWER.replace("4.75", "5.75"), ZH_ANSWER)
    assert [one.outcome for _, one in sorted(way.trip.draft.refined.items())] == [Outcome.CORRECTED, Outcome.KEPT]
    assert len(reader.asked) == 2
    assert payloads(body)[-1] == "[DONE]"
