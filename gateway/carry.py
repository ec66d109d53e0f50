"""An upstream's answer carried through a relay: a stream piece by piece, or a whole body at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from time import perf_counter

from gateway.backends import Answer
from gateway.errors import UpstreamFault
from gateway.ledger import Trip
from gateway.refine.review import Review
from gateway.relay import Relay
from gateway.surfaces import sse

Write = Callable[[bytes], Awaitable[None]]

LINGER = 0.1  # seconds that the end of the upstream's body may follow its last event


class _Reader:
    """Bytes of a stream in, events out."""

    def __init__(self) -> None:
        self._decoder = sse.Decoder()
        self.ended = False  # [DONE] was seen

    def feed(self, chunk: bytes) -> list[sse.Frame]:
        return self._until_done(self._decoder.feed(chunk))

    def flush(self) -> list[sse.Frame]:
        return self._until_done(self._decoder.flush())

    def _until_done(self, frames: list[sse.Frame]) -> list[sse.Frame]:
        for index, frame in enumerate(frames):
            if frame.data == sse.DONE:
                self.ended = True
                return frames[:index]
        return frames


async def stream(answer: Answer, relay: Relay, trip: Trip, write: Write, review: Review | None = None) -> None:
    """Write the answer as it may leave, and [DONE]. UpstreamFault if it does not come to its end.

    With a review the relay keeps back what that wants kept, until the review has said how the answer ends.
    """
    reader = _Reader()
    chunks = answer.chunks()
    out: list[bytes] = []
    async for chunk in chunks:
        start = perf_counter()
        out = relay.feed(reader.feed(chunk), reader.ended)
        if review is not None:
            review.hear(relay)
        trip.own += perf_counter() - start
        if reader.ended or relay.done:
            break
        if review is not None:
            out = await _reviewed(out, relay, trip, write, review)
        if out:
            trip.sent()
            await write(b"".join(out))
            out = []
        else:
            trip.waits(relay.held)
    else:
        out += relay.feed(reader.flush(), True)
    whole = reader.ended or relay.complete
    if review is not None:
        out = await _reviewed(out, relay, trip, write, review, last=True)
    if relay.failed or not whole:
        await write(b"".join(out))
        if not relay.failed:
            raise UpstreamFault("the upstream ended its stream before its answer was complete", kind="broken_off")
        return
    trip.sent()
    await write(b"".join([*out, sse.DONE_FRAME]))
    if reader.ended and not relay.done:
        await _read_out(chunks)


async def _reviewed(
    out: list[bytes], relay: Relay, trip: Trip, write: Write, review: Review, last: bool = False
) -> list[bytes]:
    """What may leave, once the review has been asked if the answer is at its end; meanwhile the client is kept alive."""
    if review.over or not (last or relay.complete):
        await review.keep_alive(write, bool(out))
        return out
    if out:
        trip.sent()
        await write(b"".join(out))
    return await review.end(relay, write)


async def _read_out(chunks: AsyncIterator[bytes]) -> None:
    """The end of the body comes right behind its last event; once it is read, the connection can be used again."""
    try:
        async with asyncio.timeout(LINGER):
            async for _ in chunks:
                pass
    except (TimeoutError, UpstreamFault):
        return  # then the connection is closed instead
