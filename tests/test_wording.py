"""Policies in the plugin's words: what the engine's half of the house understands, and nothing that it would not."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from gateway.kv import _wire, ask, nouns
from gateway.rules import Inject
from gateway.types import Action, Finding
from gateway.wording import kept_on, used_on


def found(rule: str, reason: str, text: str, action: Action = Action.MASK) -> Finding:
    return Finding(rule, reason, action, 5, 5 + len(text), text=text)


CALM = found("calm", "R308", "理解您的心情", Action.MONITOR)
BLOCKED = found("word", "R101", "deadly", Action.BLOCK)


@pytest.mark.parametrize(
    ("inject", "findings", "texts", "whole"),
    [
        ({"sensitive": "mask"}, [BLOCKED], ["deadly"], False),
        ({"sensitive": "mask"}, [found("pii", "R102", "Bo"), CALM, BLOCKED, BLOCKED], ["Bo", "deadly"], False),
        ({"sensitive": "mask", "cut": ["R308"]}, [CALM, BLOCKED], ["理解您的心情", "deadly"], False),
        ({"sensitive": "allow", "cut": ["R308"]}, [CALM, BLOCKED], ["理解您的心情"], False),
        ({"sensitive": "allow"}, [CALM, BLOCKED], [], False),
        ({"sensitive": "cut", "cut": ["R308"]}, [CALM, BLOCKED], [], True),
        ({"sensitive": "mask"}, [found("end", "R101", "", Action.BLOCK)], [], True),
        ({"sensitive": "mask"}, [found("much", "R101", "x" * 5000, Action.BLOCK)], [], True),
        ({"sensitive": "mask"}, [found("many", "R101", f"x{n}") for n in range(65)], [], True),
        ({"sensitive": "mask"}, [], [], True),
    ],
)
def test_what_the_rules_found_is_what_is_masked(
    inject: dict[str, Any], findings: list[Finding], texts: list[str], whole: bool
) -> None:
    told = kept_on(Inject.model_validate(inject), findings)
    assert (told["sensitive_texts"], told["sensitive_output"]) == (texts, whole)
    assert _wire.verdict(orjson.dumps({"reason": "R101", **told})).texts == tuple(texts)


@pytest.mark.parametrize("fields", [{"recompute": {"first": 65536, "share": 1}}, {"min_tokens": 1, "ban": True}])
def test_the_engine_s_half_understands_how_a_donor_may_be_used(fields: dict[str, Any]) -> None:
    policy = Inject.model_validate(fields)
    made = ask.parse({"retrace": {"capture": "d", "donor": "c", "mode": "prefix", **used_on(policy)}})
    assert made
    assert made.recompute == nouns.Recompute(policy.recompute.first, policy.recompute.share)
    assert (made.least, made.ban, made.after_sensitive.value) == (policy.min_tokens, policy.ban, policy.after_sensitive)
