"""Rules for tests of the audit log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gateway.rules import Rule, RuleFile
from gateway.types import Action, Finding

MASKING: dict[str, Any] = {
    "id": "in.code",
    "side": "input",
    "check": {"type": "regex", "pattern": "project [A-Z]{1,9}"},
    "action": "mask",
    "reason": "R101",
}


def rules(*told: dict[str, Any]) -> Sequence[Rule]:
    return RuleFile.model_validate({"rules": told}).rules


def found(text: str, reason: str = "R205", action: Action = Action.BLOCK, replacement: str = "") -> Finding:
    return Finding("r", reason, action, 0, len(text), replacement, text)
