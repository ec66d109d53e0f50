"""An upstream's answer carried through a relay: a stream piece by piece, or a whole body at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import orjson

from gateway.backends import Answer
from gateway.errors import UpstreamFault
from gateway.ledger import Trip
from gateway.relay import Relay
from gateway.surfaces import Event, sse

LINGER = 0.1  # seconds that the end of the upstream's body may follow its last event


class _Reader:
    """Bytes of a stream in, events out, parsed together as they came together."""

    def __init__(self) -> None:
        self._decoder = sse.Decoder()
        self.ended = False  # [DONE] was seen

    def feed(self, chunk: bytes) -> list[Event]:
        return self._events(self._decoder.feed(chunk))

    def flush(self) -> list[Event]:
        return self._events(self._decoder.flush())

    def _events(self, frames: list[sse.Frame]) -> list[Event]:
        for index, frame in enumerate(frames):
            if frame.data == sse.DONE:
                self.ended = True
                del frames[index:]
                break
        if len(frames) == 1:
            return [Event(frames[0].raw, parsed(frames[0].data))]
        return [Event(frame.raw, data) for frame, data in zip(frames, _together(frames), strict=True)]


def _together(frames: Sequence[sse.Frame]) -> list[dict[str, Any]]:
    """The payloads of many frames in one go; one by one if that fails, to name the fault."""
    try:
        values = orjson.loads(b"[" + b",".join([frame.data for frame in frames]) + b"]")
    except orjson.JSONDecodeError:
        values = []
    if len(values) == len(frames) and all(value.__class__ is dict for value in values):
        return values  # type: ignore[no-any-return]
    return [parsed(frame.data) for frame in frames]


def parsed(raw: bytes) -> dict[str, Any]:
    """A JSON object; UpstreamFault if it is anything else."""
    try:
        data = orjson.loads(raw)
    except orjson.JSONDecodeError as fault:
        raise UpstreamFault("the upstream sent what is not JSON", kind="garbage") from fault
    if not isinstance(data, dict):
        raise UpstreamFault("the upstream sent JSON that is no object", kind="garbage")
    return data


async def stream(answer: Answer, relay: Relay, trip: Trip) -> AsyncIterator[bytes]:
    """The answer as it may leave, and [DONE]. UpstreamFault if it does not come to its end."""
    reader = _Reader()
    chunks = answer.chunks()
    out = b""
    async for chunk in chunks:
        with trip.working():
            events = reader.feed(chunk)
            out = b"".join(relay.feed(events, final=reader.ended))
        if reader.ended or relay.done:
            break
        if out:
            trip.sent(relay.held)
            yield out
            out = b""
    else:
        out += b"".join(relay.feed(reader.flush(), final=True))
    if relay.failed or not (reader.ended or relay.complete):
        yield out
        if not relay.failed:
            raise UpstreamFault("the upstream ended its stream before its answer was complete", kind="broken_off")
        return
    trip.sent(relay.held)
    yield out + sse.DONE_FRAME
    if reader.ended and not relay.done:
        await _read_out(chunks)


async def _read_out(chunks: AsyncIterator[bytes]) -> None:
    """The end of the body comes right behind its last event; once it is read, the connection can be used again."""
    try:
        async with asyncio.timeout(LINGER):
            async for _ in chunks:
                pass
    except (TimeoutError, UpstreamFault):
        return  # then the connection is closed instead


def whole(raw: bytes, relay: Relay) -> bytes:
    """An answer in one piece, as it may leave: judged like a stream that came all at once."""
    return b"".join(relay.feed([Event(raw, parsed(raw))], final=True))
