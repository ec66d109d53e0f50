"""What tests of judging stand on: checks from their YAML fields, and the lanes of a few rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gateway.checks import Check
from gateway.judge import Judge, Lane, OnBroken
from gateway.plug import plugs
from gateway.rules import Place, Rule
from gateway.types import Action, Side, View


def check(kind: str, **fields: Any) -> Check:
    """A check as a rule file would name it."""
    made = plugs("checks")[kind].model_validate({"type": kind, **fields})
    assert isinstance(made, Check)
    return made


def spans(looking: Check, text: str) -> list[tuple[int, int]]:
    """Where a check sees something in a whole text, in order."""
    found, hold = looking.look(View(text))
    assert hold == len(text)
    return sorted(found)


def seen(looking: Check, text: str) -> list[str]:
    """What a check sees in a whole text, in order."""
    return [text[start:end] for start, end in spans(looking, text)]


def made(check_fields: Mapping[str, Any], action: str = "block", *, name: str = "r", **fields: Any) -> Rule:
    """A rule for answers."""
    given = {"id": name, "side": "output", "check": dict(check_fields), "action": action, "reason": "R101"}
    return Rule.model_validate({**given, **fields})


def words(*given: str, action: str = "block", name: str = "words", **fields: Any) -> Rule:
    return made({"type": "words", "words": list(given)}, action, name=name, **fields)


def regex(pattern: str, action: str = "block", name: str = "regex", **fields: Any) -> Rule:
    return made({"type": "regex", "pattern": pattern}, action, name=name, **fields)


def place(role: str = "assistant", side: Side = Side.OUTPUT, **fields: str) -> Place:
    given = {"surface": "chat", "model": "m", "tenant": "default", "tier": "standard", **fields}
    return Place(side, role=role, **given)


def nobody(_rule: str) -> None:
    """Whom no broken check is told."""


def lanes(*rules: Rule, role: str = "assistant", on_broken: OnBroken = nobody) -> Sequence[Lane]:
    """The lanes that some rules make for a model's answer."""
    return Judge(rules, on_broken).lanes(place(role))


def acting(rule: Rule, action: Action) -> Rule:
    """The same rule with another action."""
    return rule.model_copy(update={"action": action})
