"""What a line of the audit log says of an exchange, of an engine's report, of a configuration. Words are not in it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence, Set
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from gateway.config import House
from gateway.ledger import Trip
from gateway.rules import Rule
from gateway.tiers import _model
from gateway.types import Attempt, Draft, Exchange, Finding, Outcome, Refined, Reuse

MOST = 200  # findings or cuts of one exchange that are listed
_PARAMETERS = frozenset(
    {
        *("temperature", "top_p", "top_k", "min_p", "seed", "n", "best_of", "max_tokens", "max_completion_tokens"),
        *("presence_penalty", "frequency_penalty", "repetition_penalty", "min_tokens"),
    }
)


def exchange(trip: Trip, asked: Exchange, seconds: float) -> dict[str, Any]:
    """How an exchange went: who asked, what the rules said, what was cut back and corrected, how it ended.

    Most exchanges are quiet, and of these the line is short: what is not in it is as `story.QUIET` says.
    """
    draft = trip.draft
    told: dict[str, Any] = {
        "at": round(trip.at, 3),
        "kind": "exchange",
        "id": asked.id,
        "tenant": asked.principal.tenant,
        "tier": asked.principal.tier,
        "surface": asked.surface,
        "model": asked.model,
        "backend": trip.backend,
        "stream": asked.stream,
        "choices": asked.choices,
        "status": trip.status,
        "verdict": draft.verdict.word,
        "revision": trip.revision,
        "seconds": round(seconds, 4),
        "first": round(trip.first, 4) if trip.first is not None else None,
        "usage": [draft.usage.prompt, draft.usage.completion] if draft.usage else None,
    }
    if asked.session:
        told["session"] = _named(asked.principal.tenant, asked.session)
    if trip.tried:
        told["tried"] = list(trip.tried)
    if trip.asked and (parameters := _parameters(trip.asked)):
        told["parameters"] = parameters
    if draft.finish:
        told["finish"] = {str(choice): why for choice, why in draft.finish.items()}
    if trip.captures:
        told["captures"] = list(trip.captures)
    if draft.findings or draft.attempts or draft.refined:
        told |= _path(draft)
    return told


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
    return hashlib.sha256(f"{tenant}\0{session}".encode()).hexdigest()[:16] if session else ""


def _parameters(asked: Mapping[str, Any]) -> dict[str, Any]:
    """What makes an answer come out as it did, besides the words."""
    return {name: asked[name] for name in _PARAMETERS & asked.keys() if isinstance(asked[name], int | float)}


def reuse(told: Reuse) -> dict[str, Any]:
    """What an engine said of a capture, and of the donor it was offered."""
    return {"kind": "reuse", **told._asdict()}


def house(now: House) -> dict[str, Any]:
    """The configuration that is in force from here on: its files, each rule's version, what reason codes mean, how what
    was rejected may be used, and what the models are."""
    return {
        "kind": "house",
        "revision": now.revision,
        "files": {_relative(path, now.folder): _sum(path) for path in sorted(now.watched)},
        "rules": {name: _rule(rule) for name, rule in now.rules.items()},
        "reasons": {
            code: {"name": reason.name, "message": dict(reason.message)} for code, reason in now.reasons.items()
        },
        "policies": {
            code: {"mode": policy.mode, "version": digest(policy.model_dump())}
            for code, policy in now.terms.policies.items()
        },
        "trials": {
            code: {"mode": trial.policy.mode, "version": digest(trial.policy.model_dump()), "share": trial.share}
            for code, trial in now.terms.trials.items()
        },
        "models": _models(now),
    }


def _rule(rule: Rule) -> dict[str, Any]:
    looked = rule.model_dump(exclude={"about"}, serialize_as_any=True)
    told = {"version": digest(looked), "reason": rule.reason, "action": rule.action.value}
    return {**told, "about": rule.about} if rule.about else told


def _models(now: House) -> dict[str, str]:
    """The version of each small model that tiers ask: the hash of its manifest."""
    tiers = now.refine.tiers if now.refine is not None else ()
    found: dict[str, str] = {}
    for tier in tiers:
        if hasattr(tier, "model"):
            found[tier.type] = _sum((tier.model or _model.FOLDER) / "manifest.json")
    return found


def digest(value: Any) -> str:
    """A short name for a value: the same for the same, whatever order its keys stand in."""
    told = orjson.dumps(value, default=_plain, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
    return hashlib.sha256(told).hexdigest()[:12]


def _plain(value: Any) -> Any:
    return sorted(map(str, value)) if isinstance(value, Set) else str(value)


def _relative(path: Path, folder: Path) -> str:
    """The name of a file as gateway.yaml would call it."""
    home = folder.resolve()
    return str(path.relative_to(home)) if path.is_relative_to(home) else path.name


def _sum(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return "unreadable"


def sizes(texts: Sequence[str]) -> int:
    """About how many bytes these take while they wait."""
    return 4 * sum(map(len, texts))
