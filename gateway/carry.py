"""An upstream's answer carried through a relay: a stream piece by piece, or a whole body at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from time import perf_counter
from typing import NamedTuple

from gateway import marks
from gateway.backends import Answer
from gateway.closing import Closing
from gateway.errors import UpstreamFault
from gateway.ledger import Trip
from gateway.marks import Fact
from gateway.pulse import Write
from gateway.refine.review import Review
from gateway.relay import Relay
from gateway.resume import Resumed
from gateway.rewind import Stitch
from gateway.surfaces import sse
from gateway.tracing import intent

Resume = Callable[[Relay], Awaitable[Resumed]]  # the way on for what was cut back

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


async def stream(
    answer: Answer,
    relay: Relay,
    trip: Trip,
    write: Write,
    review: Review | Closing | None = None,
    resume: Resume | None = None,
) -> None:
    """Write the answer as it may leave, and [DONE]. UpstreamFault if it does not come to its end.

    What is cut back goes on by `resume`. With a review the relay keeps back what that wants kept, until the review has
    said how the answer ends.
    """
    with marks.stage("relay"):
        await _streamed(answer, relay, trip, write, review, resume)


async def _streamed(
    answer: Answer, relay: Relay, trip: Trip, write: Write, review: Review | Closing | None, resume: Resume | None
) -> None:
    carried = await _pump(answer, relay, trip, write, review)
    while relay.rewound and resume is not None and not relay.failed:
        await _write(carried.out, trip, write)
        with marks.stage("rewind", **_cut(relay, trip)):
            begin, answer, stitch = await resume(relay)
        await _write(relay.feed(begin), trip, write)
        carried = await _pump(answer, relay, trip, write, review, stitch)
    out, ended, chunks = carried
    whole = ended or relay.complete
    if review is not None:
        out = await _reviewed(out, relay, trip, write, review, last=True)
    if relay.failed or not whole:
        await write(b"".join(out))
        if not relay.failed:
            raise UpstreamFault("the upstream ended its stream before its answer was complete", kind="broken_off")
        return
    trip.sent()
    await write(b"".join([*out, sse.DONE_FRAME]))
    if ended and not relay.done:
        await _read_out(chunks)


class _Carried(NamedTuple):
    """What may leave and was not written yet, whether [DONE] was seen, and what is left of the body."""

    out: list[bytes]
    ended: bool
    chunks: AsyncIterator[bytes]


async def _pump(
    answer: Answer,
    relay: Relay,
    trip: Trip,
    write: Write,
    review: Review | Closing | None,
    stitch: Stitch | None = None,
) -> _Carried:
    """One call's events to the client, until nothing more is to be heard of it."""
    reader = _Reader()
    chunks = answer.chunks()
    out: list[bytes] = []
    async for chunk in chunks:
        start = perf_counter()
        frames = reader.feed(chunk)
        if trip.trace is not None:
            for frame in frames:
                intent.hear(trip.trace, frame.data)
        out = relay.feed(stitch.frames(frames) if stitch is not None else frames, reader.ended)
        if review is not None:
            review.hear(relay)
        trip.own += perf_counter() - start
        if reader.ended or relay.done or relay.idle:
            break
        if review is not None:
            out = await _reviewed(out, relay, trip, write, review)
        if out:
            await _write(out, trip, write)
            out = []
        else:
            trip.waits(relay.held)
    else:
        frames = reader.flush()
        out += relay.feed(stitch.frames(frames) if stitch is not None else frames, True)
    return _Carried(out, reader.ended, chunks)


def _cut(relay: Relay, trip: Trip) -> dict[str, Fact]:
    """What a trace says of the cut that the answer goes on from."""
    attempt = next(reversed(relay.rewound.values()))
    told: dict[str, Fact] = {"reason_code": attempt.finding.reason, "rule": attempt.finding.rule}
    told |= {"anchor": attempt.anchor, "kept_tokens": attempt.stands, "wasted_tokens": attempt.wasted}
    about = intent.intent(trip.trace.heard) if trip.trace is not None else "answer"
    return {**told, "attempt": 2 + len(trip.draft.attempts), "reasoning_intent": about}


async def _write(out: list[bytes], trip: Trip, write: Write) -> None:
    if out:
        trip.sent()
        await write(b"".join(out))


async def _reviewed(
    out: list[bytes], relay: Relay, trip: Trip, write: Write, review: Review | Closing, last: bool = False
) -> list[bytes]:
    """What may leave, once the review was asked if the answer is at its end; meanwhile the client is kept alive."""
    if review.over or not (last or relay.complete):
        await review.keep_alive(write, bool(out))
        return out
    await _write(out, trip, write)
    return await review.end(relay, write)


async def _read_out(chunks: AsyncIterator[bytes]) -> None:
    """The end of the body comes right behind its last event; once it is read, the connection can be used again."""
    try:
        async with asyncio.timeout(LINGER):
            async for _ in chunks:
                pass
    except (TimeoutError, UpstreamFault):
        return  # then the connection is closed instead
