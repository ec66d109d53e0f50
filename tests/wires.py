"""An upstream's bytes, through decoder, relay and carry, to the bytes that a client gets."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway import carry
from gateway.errors import UpstreamFault
from gateway.judge import Judge, Lane
from gateway.ledger import Trip
from gateway.plug import plugs
from gateway.relay import Relay
from gateway.rules import Rule
from gateway.surfaces import sse
from gateway.types import Draft, Exchange, Principal
from tests.sight import place


@dataclass
class Pieces:
    """An answer that comes in these pieces."""

    pieces: Iterable[bytes]
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    read_out: bool = False  # the end of the body was reached
    capture: None = None

    async def chunks(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            yield piece
        self.read_out = True

    async def read(self, limit: int) -> bytes:
        return b"".join(self.pieces)[:limit]

    def close(self) -> None:
        """Nothing is open."""


@dataclass
class Carried:
    """What a client got, piece by piece; what was booked; and why the stream ended if not well."""

    pieces: list[bytes]
    draft: Draft
    fault: UpstreamFault | None = None
    held: int = 0

    @property
    def body(self) -> bytes:
        return b"".join(self.pieces)


def exchange(choices: int = 1, surface: str = "chat", **fields: Any) -> Exchange:
    return Exchange("rt-1", surface, "m", Principal(), (), stream=True, choices=choices, **fields)


def relay(rules: Sequence[Rule], asked: Exchange, draft: Draft) -> Relay:
    judge = Judge(rules)

    def lanes_for(role: str) -> Sequence[Lane]:
        return judge.lanes(place(role))

    return Relay(plugs("surfaces")[asked.surface](), asked, draft, lanes_for, sse.frame)


def carried(pieces: Iterable[bytes], *rules: Rule, asked: Exchange | None = None) -> Carried:
    """A stream's way to the client."""
    asked = asked or exchange()
    trip = Trip(0.0)
    result = Carried([], trip.draft)

    async def keep(piece: bytes) -> None:
        if piece:
            result.pieces.append(piece)

    async def carry_all() -> None:
        try:
            await carry.stream(Pieces(pieces), relay(rules, asked, trip.draft), trip, keep)
        except UpstreamFault as fault:
            result.fault = fault
        result.held = trip.held

    asyncio.run(carry_all())
    return result


def cut(wire: bytes, places: Iterable[int]) -> list[bytes]:
    """The bytes in pieces."""
    edges = [0, *sorted({at for at in places if 0 < at < len(wire)}), len(wire)]
    return [wire[start:end] for start, end in itertools.pairwise(edges)]
