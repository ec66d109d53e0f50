"""What teams write."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from gateway.rules import Inject, ReasonFile, Rule, RuleFile, When
from gateway.types import Action, Reason, Side
from tests.sight import place

RULE: dict[str, Any] = {
    "id": "a.rule",
    "side": "input",
    "check": {"type": "words", "words": ["bomb"]},
    "action": "block",
    "reason": "R101",
}


def rule(**fields: Any) -> Rule:
    return Rule.model_validate({**RULE, **fields})


def when(**fields: Any) -> When:
    return When.model_validate(fields)


def test_a_rule_needs_no_more_than_what_it_is_about() -> None:
    made = rule()
    assert (made.side, made.action, made.on_error, made.mask) == (Side.INPUT, Action.BLOCK, "block", "***")


def test_a_rule_applies_everywhere_unless_it_says_where() -> None:
    assert when().matches(place())


@pytest.mark.parametrize(
    ("fields", "yes"),
    [
        ({"model": "m"}, True),
        ({"model": "M"}, False),
        ({"model": "gpt-*"}, False),
        ({"model": ["gpt-*", "m*"]}, True),
        ({"tenant": "default", "tier": "stan*"}, True),
        ({"tenant": "default", "tier": "gold"}, False),
        ({"surface": ["chat", "completions"]}, True),
        ({"role": "user"}, False),
        ({"role": "assist?nt"}, True),
        ({"role": "assist?ant"}, False),
    ],
)
def test_every_field_that_is_given_must_match(fields: dict[str, Any], yes: bool) -> None:
    assert when(**fields).matches(place()) is yes


@pytest.mark.parametrize("fields", [{"model": []}, {"model": 3}, {"modell": "m"}, {"side": "input"}])
def test_a_condition_that_is_none_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        when(**fields)


@pytest.mark.parametrize(
    "fields",
    [
        {"id": "Upper"},
        {"id": ""},
        {"id": "x" * 65},
        {"id": "a b"},
        {"reason": "101"},
        {"reason": "R1"},
        {"action": "explode"},
        {"side": "both"},
        {"on_error": "ignore"},
        {"mask": "*" * 65},
        {"message": {}},
        {"message": {"fr": "non"}},
        {"check": {"type": "words"}},
        {"check": "words"},
    ],
)
def test_a_field_that_makes_no_sense_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        rule(**fields)


@pytest.mark.parametrize("fields", [{"side": "output"}, {"action": "mask"}, {"action": "tag", "side": "output"}])
def test_only_a_blocked_input_can_be_answered_in_the_model_s_stead(fields: dict[str, Any]) -> None:
    assert rule(respond="answer").respond == "answer"
    with pytest.raises(ValidationError, match="belongs to rules with `side: input` and `action: block`"):
        rule(respond="answer", **fields)


def test_an_id_stands_once_in_a_file() -> None:
    with pytest.raises(ValidationError, match=r"these ids stand twice: a\.rule"):
        RuleFile.model_validate({"rules": [RULE, RULE]})


def test_reasons_become_a_table() -> None:
    entry = {"name": "sensitive.content", "meaning": "m", "status": 451, "message": {"en": "No.", "zh": "不。"}}
    table = ReasonFile.model_validate({"reasons": {"R101": entry}}).table
    assert table == {"R101": Reason("R101", "sensitive.content", 451, {"en": "No.", "zh": "不。"})}


@pytest.mark.parametrize(
    "fields",
    [{"message": {"en": "No."}}, {"status": 200}, {"status": 600}, {"name": "Sensitive"}, {"name": ""}, {"extra": 1}],
)
def test_a_reason_that_is_not_complete_is_refused(fields: dict[str, Any]) -> None:
    entry = {"name": "a.b", "meaning": "m", "message": {"en": "No.", "zh": "不。"}, **fields}
    with pytest.raises(ValidationError):
        ReasonFile.model_validate({"reasons": {"R101": entry}})


@pytest.mark.parametrize("code", ["101", "R10", "R1010", "r101"])
def test_a_reason_code_has_an_r_and_three_digits(code: str) -> None:
    with pytest.raises(ValidationError):
        ReasonFile.model_validate({"reasons": {code: {"name": "a", "meaning": "m", "message": {"en": "", "zh": ""}}}})


def inject(**fields: Any) -> Inject:
    return Inject.model_validate(fields)


def test_a_reason_without_a_policy_has_the_careful_one() -> None:
    entry = {"name": "a.b", "meaning": "m", "message": {"en": "No.", "zh": "不。"}}
    given = {**entry, "inject": {"mode": "splice", "recompute": {"first": 8}}}
    policies = ReasonFile.model_validate({"reasons": {"R101": entry, "R203": given}}).policies
    assert policies == {"R101": Inject(), "R203": inject(mode="splice", recompute={"first": 8, "share": 0.15})}
    careful = policies["R101"]
    assert (careful.mode, careful.sensitive, careful.after_sensitive, careful.ban) == ("prefix", "cut", "stop", False)


@pytest.mark.parametrize(
    ("fields", "captures"),
    [
        ({}, True),
        ({"mode": "splice"}, True),
        ({"mode": "none"}, False),
        ({"mode": "none", "capture": True}, True),
        ({"capture": False}, False),
    ],
)
def test_what_is_never_injected_is_not_captured_unless_asked_for(fields: dict[str, Any], captures: bool) -> None:
    assert inject(**fields).captures is captures


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"mode": "mask"}, "`mask` saves no prefill on this engine; write `prefix` or `splice`"),
        ({"mode": "layers"}, "`layers` saves no prefill"),
        ({"mode": "suffix"}, "mode"),
        ({"ban": True, "sensitive": "allow"}, "write `sensitive: mask`"),
        ({"sensitive": "keep"}, "sensitive"),
        ({"after_sensitive": "go"}, "after_sensitive"),
        ({"recompute": {"first": -1}}, "first"),
        ({"recompute": {"share": 1.1}}, "share"),
        ({"recompute": {"last": 3}}, "last"),
        ({"min_tokens": 0}, "min_tokens"),
        ({"ttl_seconds": 0}, "ttl_seconds"),
        ({"priority": 101}, "priority"),
        ({"layers": [4]}, "layers"),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        inject(**fields)
