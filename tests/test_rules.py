"""What teams write."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from gateway.errors import Complaint, ConfigFault
from gateway.rules import Inject, ReasonFile, Rewinding, Rule, RuleFile, When
from gateway.types import Action, Reason, Side
from gateway.yamlfile import Document
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


# What is cut back.

YAML = """rules:
  - id: first
    side: {side}
    check: {{type: words, words: [bomb]}}
    action: {action}
    reason: R101
    rewind: {rewind}
"""


def complaints(folder: Path, text: str) -> list[Complaint]:
    """What is wrong with a file of rules."""
    (folder / "rules.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigFault) as caught:
        Document(folder / "rules.yaml").into(RuleFile)
    return caught.value.complaints


def rewinding(**fields: Any) -> Rewinding:
    return rule(side="output", action="rewind", rewind=fields).rewinding


def test_a_rule_that_cuts_back_needs_to_say_no_more() -> None:
    usual = rule(side="output", action="rewind").rewinding
    assert (usual.budget, usual.ban, usual.otherwise) == (2, True, "block")
    assert [anchor.type for anchor in usual.anchors] == ["word"]
    assert (usual.steer.say, usual.steer.tell) == (None, None)
    assert usual == rewinding()


def test_it_may_say_how() -> None:
    told = rewinding(
        budget=1,
        anchors=[{"type": "json", "mode": "word"}, {"type": "entity", "words": ["白金卡"]}],
        steer={"say": {"en": " so", "zh": "那么"}, "tell": {"zh": "不要承诺。"}},
        ban=False,
        **{"else": "tag"},
    )
    assert (told.budget, told.ban, told.otherwise) == (1, False, "tag")
    assert [anchor.type for anchor in told.anchors] == ["json", "entity"]
    assert (told.steer.say, told.steer.tell) == ({"en": " so", "zh": "那么"}, {"zh": "不要承诺。"})


@pytest.mark.parametrize(
    ("rewind", "field", "words"),
    [
        ("{budget: 11}", "rewind.budget", "less than or equal to 10"),
        ("{budget: 0}", "rewind.budget", "greater than or equal to 1"),
        ("{anchors: []}", "rewind.anchors", "at least 1"),
        ("{anchors: [{type: sentense}]}", "rewind.anchors.0", "did you mean `sentence`?"),
        ("{anchors: [{type: entity}]}", "rewind.anchors.0.entity", "fill `patterns` or `words`"),
        ("{anchors: [{type: json, mode: words}]}", "rewind.anchors.0.mode", "'value' or 'word'"),
        ("{else: mask}", "rewind.else", "'block', 'tag' or 'refine'"),
        ("{otherwise: tag}", "rewind.otherwise", "there is no such field"),
        ("{elze: tag}", "rewind.elze", "there is no such field"),
        ("{ban: maybe}", "rewind.ban", "boolean"),
        ("{steer: {say: {fr: non}}}", "rewind.steer.say.fr", "'en' or 'zh'"),
        ("{steer: {tell: {}}}", "rewind.steer.tell", "at least 1"),
        ("{steer: {shout: {en: No}}}", "rewind.steer.shout", "there is no such field"),
        ("true", "rewind", "not True"),
    ],
)
def test_how_to_cut_back_is_checked_and_what_is_wrong_is_told_with_its_line(
    tmp_path: Path, rewind: str, field: str, words: str
) -> None:
    (told,) = complaints(tmp_path, YAML.format(side="output", action="rewind", rewind=rewind))
    assert (told.line, told.field) == (7, f"rules.0.{field}")
    assert words in f"{told.problem} {told.fix}"


@pytest.mark.parametrize(
    ("side", "action", "fix"),
    [
        ("input", "rewind", "write `side: output`, or `action: block`"),
        ("output", "block", "write that, or take `rewind` out"),
        ("output", "mask", "write that, or take `rewind` out"),
        ("input", "block", "write that, or take `rewind` out"),
    ],
)
def test_only_an_answer_is_cut_back_and_only_by_a_rule_that_says_so(
    tmp_path: Path, side: str, action: str, fix: str
) -> None:
    (told,) = complaints(tmp_path, YAML.format(side=side, action=action, rewind="{budget: 1}"))
    assert (told.line, told.field, told.fix) == (2, "rules.0", fix)
