"""What is handed over of an exchange, and what lines say of an engine's report and of a configuration."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

import orjson

from gateway.audit._row import Fields
from gateway.config import House
from gateway.ledger import Trip
from gateway.rules import Rule
from gateway.tiers import _model
from gateway.types import Exchange, Reuse

_PARAMETERS = frozenset(
    {
        *("temperature", "top_p", "top_k", "min_p", "seed", "n", "best_of", "max_tokens", "max_completion_tokens"),
        *("presence_penalty", "frequency_penalty", "repetition_penalty", "min_tokens"),
    }
)


def row(
    trip: Trip, asked: Exchange, said: Mapping[int, str] | None = None, left_out: int = 0, judged: bool = False
) -> Fields:
    """An exchange as it is handed over: the fields of a `Row` in their order, since a plain tuple takes half the time.
    Without `said`, what was asked stays here, too. `judged`: if it is quiet, the rules that are in force have found
    nothing in it."""
    draft, sent = trip.draft, trip.asked
    loud = draft.findings or draft.attempts or draft.refined
    return (
        trip.at,
        asked if said is not None else asked._replace(texts=()),
        trip.backend,
        trip.status,
        trip.revision,
        trip.seconds,
        trip.first,
        trip.tried,
        _parameters(sent) if sent and not _PARAMETERS.isdisjoint(sent) else {},
        draft.usage,
        draft.finish,
        trip.captures,
        draft if loud else None,
        judged and not loud,
        said,
        left_out,
    )


def _parameters(asked: Mapping[str, Any]) -> dict[str, Any]:
    """What makes an answer come out as it did, besides the words."""
    return {name: value for name, value in asked.items() if name in _PARAMETERS and isinstance(value, int | float)}


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
