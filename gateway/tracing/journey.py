"""What is kept of an exchange until its spans are made: figures and words of ours, nothing of what was said."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import NamedTuple

from gateway.ledger import Trip
from gateway.marks import Fact, Trace
from gateway.types import Exchange, Outcome, Reuse, Usage

LONGEST = 32  # characters of a word that an upstream says


class Kin(NamedTuple):
    """What a trace says of a model beyond its name: who provides it, and whether its name is one that we know."""

    provider: str
    known: bool


class Cut(NamedTuple):
    """A part of an answer that was cut away."""

    reason: str
    anchor: str
    wasted: int


class Journey(NamedTuple):
    """One exchange. Times are `perf_counter`'s seconds; `offset` makes them seconds since 1970. `session`: hashed."""

    trace: Trace
    began: float
    ended: float
    offset: float
    first: float | None
    surface: str
    status: int
    backend: str
    revision: str
    kin: Kin
    session: str = ""
    exchange: str = ""
    model: str = ""
    tenant: str = ""
    tier: str = ""
    stream: bool = False
    verdict: str = ""
    reasons: Sequence[str] = ()
    rules: Sequence[str] = ()
    cuts: Sequence[Cut] = ()
    finish: Sequence[str] = ()
    usage: Usage | None = None
    outcomes: Sequence[str] = ()


class Late(NamedTuple):
    """What an engine said of a capture when its exchange was over; at the wall clock's `at`."""

    trace: int
    root: int
    state: str
    reuse: Reuse
    at: float


def facts(reuse: Reuse) -> dict[str, Fact]:
    """What an engine said of a capture and its donor, as marks hold it."""
    told: dict[str, Fact] = {"capture": reuse.capture, "capture_verdict": reuse.verdict, "reason": reuse.reason}
    told |= {"mode": reuse.mode, "captured_tokens": reuse.captured, "injected_tokens": reuse.injected}
    told["recomputed_tokens"] = reuse.recomputed
    if reuse.donor:
        told |= {"donor": reuse.donor, "donor_reason": reuse.donor_reason, "asked": reuse.asked}
    return {**told, "declined": reuse.declined} if reuse.declined else told


def journey(trip: Trip, trace: Trace, kin: Kin, session: str = "") -> Journey:
    """All of it, as it stands now."""
    offset = trip.at - trip.began
    when = (trip.began, perf_counter(), offset, trip.first)
    base = Journey(trace, *when, trip.surface, trip.status, trip.backend, trip.revision, kin)
    return base if trip.exchange is None else _understood(base, trip, trip.exchange, session)


def _understood(base: Journey, trip: Trip, exchange: Exchange, session: str) -> Journey:
    draft, who = trip.draft, exchange.principal
    told = [finding for finding in draft.findings if finding.verdict]
    refined = [one.outcome for one in draft.refined.values() if one.outcome is not Outcome.UNTOUCHED]
    return base._replace(
        session=session,
        exchange=exchange.id,
        model=exchange.model,
        tenant=who.tenant,
        tier=who.tier,
        stream=exchange.stream,
        verdict=draft.verdict.word,
        reasons=tuple(dict.fromkeys(finding.reason for finding in told)),
        rules=tuple(dict.fromkeys(finding.rule for finding in told)),
        cuts=[Cut(one.finding.reason, one.anchor, one.wasted) for one in draft.attempts],
        finish=[draft.finish[choice][:LONGEST] for choice in sorted(draft.finish)],
        usage=draft.usage,
        outcomes=[outcome.value for outcome in refined],
    )
