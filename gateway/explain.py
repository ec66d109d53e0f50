"""The decision path of an exchange, for a client that asks for it (`x-retrace-explain: 1`): what the rules said, what
was cut back and to where, what a second reading made of it, what was reused, by which configuration, and under which
name `retrace report` tells the rest.

It is told as far as it is known when a choice ends. What an engine reused it may say later; the audit log has it then.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import orjson

from gateway.ledger import Trip
from gateway.surfaces import Surface
from gateway.types import Attempt, Draft, Finding, Piece, Refined, Side, Verdict

MOST = 32  # rules or cuts that are listed


def path(trip: Trip, choice: int | None = None) -> dict[str, Any]:
    """The decision path as it is now, of one choice or of the whole exchange."""
    draft = trip.draft
    findings, halted = _of(draft, choice), draft.halted.get(choice) if choice is not None else None
    told: dict[str, Any] = {
        "verdict": max((one.verdict for one in findings), default=Verdict.ALLOW).word,
        "reasons": sorted({one.reason for one in findings}),
        "rules": _rules(findings, draft.asked),
    }
    if halted is not None:
        told |= {"verdict": Verdict.BLOCK.word, "reason": halted.reason, "rule": halted.rule}
    attempts = [one for one in draft.attempts if choice in (None, one.choice)]
    if attempts:
        told["attempts"] = [attempt(one) for one in attempts[:MOST]]
    if choice in draft.refined:
        told["refined"] = refined(draft.refined[choice])
    if trip.captures:
        told["reuse"] = trip.captures[-1]
    if trip.revision:
        told["revision"] = trip.revision
    if trip.trace is not None:
        told["trace"] = trip.trace.name
    return {**told, "report": trip.exchange.id} if trip.exchange is not None else told


def _of(draft: Draft, choice: int | None) -> list[Finding]:
    """What was found, less what ended other choices."""
    others = {id(finding) for other, finding in draft.halted.items() if choice not in (None, other)}
    return [finding for finding in draft.findings if id(finding) not in others]


def _rules(findings: list[Finding], asked: int) -> list[dict[str, str]]:
    """Each rule that saw something, once for the request and once for the answer."""
    seen: dict[tuple[str, str], dict[str, str]] = {}
    for n, one in enumerate(findings):
        side = (Side.INPUT if n < asked else Side.OUTPUT).value
        told = {"rule": one.rule, "reason": one.reason, "action": one.action.value, "side": side}
        seen.setdefault((one.rule, side), told)
    return list(seen.values())[:MOST]


def attempt(one: Attempt) -> dict[str, Any]:
    """A part of an answer that was cut away: why, and back to which kind of anchor."""
    told = {"reason": one.finding.reason, "rule": one.finding.rule, "anchor": one.anchor}
    return {**told, "kept": one.stands, "wasted": one.wasted}


def refined(one: Refined) -> dict[str, Any]:
    """What a second reading made of an answer."""
    told: dict[str, Any] = {"outcome": one.outcome.value, "why": one.why}
    told["corrections"] = [correction._asdict() for correction in one.corrections]
    return {**told, "entry": one.entry} if one.entry else told


def put(surface: Surface, data: dict[str, Any], ended: Collection[int], trip: Trip) -> None:
    """Let an event, or a whole answer, tell the path of each choice that ends in it."""
    for choice in ended:
        surface.append(data, choice, "", path(trip, choice))


def whole(surface: Surface, raw: bytes, trip: Trip) -> bytes:
    """An answer in one piece that tells its path."""
    data = orjson.loads(raw)
    put(surface, data, surface.read(data).ends, trip)
    return orjson.dumps(data)


def said(surface: Surface, raw: bytes) -> dict[int, str]:
    """What a client reads of each choice of an answer in one piece."""
    return answers(surface, surface.read(orjson.loads(raw)).pieces)


def answers(surface: Surface, pieces: Iterable[Piece]) -> dict[int, str]:
    """What these pieces say of each choice's answer."""
    texts: dict[int, str] = {}
    for choice, channel, text in pieces:
        if channel == surface.answer:
            texts[choice] = texts.get(choice, "") + text
    return texts
