"""One repeat as it streams in: its text, when it began and ended, what it cost, how sure the model was. Sans-io."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import orjson

from gateway.errors import UpstreamFault
from gateway.surfaces import Surface, sse
from gateway.types import Usage
from gateway.watch._steps import Step, steps

LONGEST = 1 << 20  # characters of an answer that is repeated


class Side(NamedTuple):
    """What came. `first` and `total` are seconds since it was asked for; `ended`: the answer came to its end."""

    text: str
    first: float
    total: float
    usage: Usage
    steps: Sequence[Step]
    ended: bool


class Listener:
    """Reads one stream. `began` and `now` are of the same clock, in seconds."""

    def __init__(self, surface: Surface, began: float) -> None:
        self._surface, self._began = surface, began
        self._decoder = sse.Decoder()
        self._texts: list[str] = []
        self._steps: list[Step] = []
        self._size = 0
        self._first: float | None = None
        self._usage = Usage()
        self._ended = False

    def feed(self, raw: bytes, now: float) -> None:
        """These bytes came. UpstreamFault if they are no answer."""
        for frame in self._decoder.feed(raw):
            if frame.data != sse.DONE:
                self._event(frame.data, now)

    def _event(self, raw: bytes, now: float) -> None:
        try:
            data = orjson.loads(raw)
        except orjson.JSONDecodeError as fault:
            raise UpstreamFault("an event of a repeat is no JSON", kind="garbage") from fault
        reading = self._surface.read(data)
        if reading.failed:
            raise UpstreamFault("a repeat ended with a fault", kind="failed")
        said = [piece.text for piece in reading.pieces if piece.choice == 0 and piece.text]
        if said and self._first is None:
            self._first = now - self._began
        self._texts += said
        self._size += sum(map(len, said))
        if self._size > LONGEST:
            raise UpstreamFault("a repeat does not end", kind="too_large")
        self._steps += steps(data)
        self._usage = reading.usage or self._usage
        self._ended = self._ended or bool(reading.ends)

    def side(self, now: float) -> Side:
        """All of it, now that the stream is over."""
        total = now - self._began
        first = total if self._first is None else self._first
        return Side("".join(self._texts), first, total, self._usage, tuple(self._steps), self._ended)
