"""An exchange as the gateway hands it over, and as its line tells it. Words are not in the line.

The gateway notes what it has at hand and no more; what takes its time is done by the clerk.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from msgspec import Raw
from msgspec.msgpack import Decoder

from gateway.types import Attempt, Draft, Exchange, Finding, Outcome, Refined, Usage, Verdict

MOST = 200  # findings or cuts of one exchange that are listed


class Row(NamedTuple):
    """How an exchange went. Most are quiet: nothing was found, cut back or read again; of these there is no draft."""

    at: float
    exchange: Exchange
    backend: str
    status: int
    revision: str
    seconds: float
    first: float | None
    tried: Sequence[str]
    parameters: Mapping[str, int | float]
    usage: Usage | None
    finish: Mapping[int, str]
    captures: Sequence[Mapping[str, Any]]
    draft: Draft | None
    judged: bool  # by the rules that are in force, of which none has found anything or failed
    said: Mapping[int, str] | None  # None: none of its words are to be written
    left_out: int  # texts of the request


Fields: TypeAlias = tuple[Any, ...]  # those of a `Row`, in their order
Plain: TypeAlias = dict[str, Any]  # a line as it is to be written
Handed: TypeAlias = Fields | Plain | Raw  # as they are put, and as most arrive

_LINE: Decoder[Row | Plain] = Decoder(Row | Plain)


def read(handed: Handed) -> Row | Plain:
    """A line as it arrives. ValueError if it is none."""
    match handed:
        case tuple():
            return Row._make(handed)
        case dict():
            return handed
        case _:
            return _LINE.decode(handed)


def told(row: Row) -> dict[str, Any]:
    """Who asked, what the rules said, what was cut back and corrected, how it ended.

    Of a quiet exchange the line is short: what is not in it is as `story.QUIET` says.
    """
    draft, asked, usage = row.draft, row.exchange, row.usage
    line: dict[str, Any] = {
        "at": round(row.at, 3),
        "kind": "exchange",
        "id": asked.id,
        "tenant": asked.principal.tenant,
        "tier": asked.principal.tier,
        "surface": asked.surface,
        "model": asked.model,
        "backend": row.backend,
        "stream": asked.stream,
        "choices": asked.choices,
        "status": row.status,
        "verdict": (draft.verdict if draft else Verdict.ALLOW).word,
        "revision": row.revision,
        "seconds": round(row.seconds, 4),
        "first": round(row.first, 4) if row.first is not None else None,
        "usage": (usage.prompt, usage.completion) if usage else None,
    }
    if asked.session:
        line["session"] = _named(asked.principal.tenant, asked.session)
    if row.finish:
        line["finish"] = {str(choice): why for choice, why in row.finish.items()}
    more = {"tried": row.tried, "parameters": row.parameters, "captures": row.captures}
    line |= {name: value for name, value in more.items() if value}
    return line | _path(draft) if draft else line


def _path(draft: Draft) -> dict[str, Any]:
    """What the rules and the second reading did."""
    listed = enumerate(islice(draft.findings, MOST))
    halted = draft.halted.items()
    path = {
        "findings": [_finding(one, "input" if n < draft.asked else "output") for n, one in listed],
        "unlisted": max(len(draft.findings) - MOST, 0),
        "halted": {str(choice): [one.rule, one.reason] for choice, one in halted},
        "attempts": [_attempt(one) for one in draft.attempts[:MOST]],
        "refined": {str(choice): _refined(one) for choice, one in draft.refined.items() if _matters(one)},
    }
    return {name: value for name, value in path.items() if value}


def _finding(one: Finding, side: str) -> dict[str, Any]:
    told = {"rule": one.rule, "reason": one.reason, "action": one.action.value, "side": side}
    return {**told, "start": one.start, "end": one.end}


def _attempt(one: Attempt) -> dict[str, Any]:
    told = {"choice": one.choice, "rule": one.finding.rule, "reason": one.finding.reason, "anchor": one.anchor}
    return {**told, "kept": one.kept, "wasted": one.wasted}


def _matters(one: Refined) -> bool:
    return one.outcome is not Outcome.UNTOUCHED or bool(one.why)


def _refined(one: Refined) -> dict[str, Any]:
    usage = [one.usage.prompt, one.usage.completion] if one.usage else None
    return {"outcome": one.outcome.value, "why": one.why, "corrections": len(one.corrections), "usage": usage}


def _named(tenant: str, session: str) -> str:
    """A session by a name that is always the same and says nothing: clients call theirs by the names of people."""
    return hashlib.sha256(f"{tenant}\0{session}".encode(errors="surrogatepass")).hexdigest()[:16]
