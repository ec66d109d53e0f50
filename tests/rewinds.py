"""An answer that is cut back and goes on: the bytes of an upstream, and of each further call, to those of a client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway import carry
from gateway.errors import UpstreamFault
from gateway.judge import Judge, Lane
from gateway.ledger import Trip
from gateway.outbox import Hold
from gateway.plug import plugs
from gateway.relay import Manner, Relay
from gateway.resume import Resumed
from gateway.rewind import Budget, Seam, Stitch
from gateway.rules import Rule
from gateway.types import Draft, Exchange
from tests.rig import payloads
from tests.sight import place, regex
from tests.wires import Pieces, exchange

Turn = Callable[[str], Iterable[bytes]]  # the events of the call that goes on from what stands


@dataclass
class Repaired:
    """What a client got, what each further call went on from, and what was booked."""

    draft: Draft
    pieces: list[bytes] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    read: list[str] = field(default_factory=list)  # what the client had read when that call was made
    answers: Mapping[int, str] = field(default_factory=dict)  # what the relay takes the client to have read in the end
    fault: UpstreamFault | None = None

    @property
    def body(self) -> bytes:
        return b"".join(self.pieces)


def rewinds(pattern: str = "guaranteed|稳赚", name: str = "rewinds", **rewind: Any) -> Rule:
    """A rule that cuts back."""
    return regex(pattern, "rewind", name=name, **({"rewind": rewind} if rewind else {}))


def manner(judge: Judge, hold: Hold = "nothing") -> Manner:
    """How a gateway with these rules carries an answer."""
    return Manner(hold, False, Budget([rule for role in ROLES for rule in judge.rewinding(place(role))]).rewinds)


ROLES = ("assistant", "tool_call")


def read(body: bytes, choice: int = 0) -> str:
    """What a client of chat or completions has read of a choice's answer."""
    told = [one for data in payloads(body) if isinstance(data, dict) for one in data.get("choices", ())]
    return "".join(
        one.get("text") or one.get("delta", {}).get("content") or "" for one in told if one["index"] == choice
    )


def repaired(
    pieces: Iterable[bytes], turn: Turn, *rules: Rule, asked: Exchange | None = None, instructed: bool = False
) -> Repaired:
    """A stream's way to the client, cut back by the rules; `instructed`: an endpoint that is only told to go on."""
    asked = asked or exchange()
    judge, surface, trip = Judge(rules), plugs("surfaces")[asked.surface](), Trip(0.0)
    got = Repaired(trip.draft)

    def lanes_for(role: str) -> Sequence[Lane]:
        return judge.lanes(place(role))

    async def keep(piece: bytes) -> None:
        if piece:
            got.pieces.append(piece)

    async def resume(relay: Relay) -> Resumed:
        attempt = next(reversed(relay.rewound.values()))
        kept = relay.resume(attempt.choice)
        got.kept.append(kept)
        got.read.append(read(got.body, attempt.choice))
        seam = Seam(kept) if instructed else None
        stitch = Stitch(surface, relay.head or {}, attempt.choice, trip.draft, 0, seam)
        return Resumed([], Pieces(turn(kept)), stitch)

    async def carry_all() -> None:
        relay = Relay(surface, asked, trip.draft, lanes_for, manner=manner(judge))
        try:
            await carry.stream(Pieces(pieces), relay, trip, keep, None, resume)
        except UpstreamFault as fault:
            got.fault = fault
        got.answers = relay.answers

    asyncio.run(carry_all())
    return got
