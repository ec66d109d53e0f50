"""What is written of the words of an exchange."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path
from typing import Any

import pytest

from gateway.audit.settings import Auditing
from gateway.audit.words import MASK, Redactor, Words, without_found
from gateway.config import Source, build
from gateway.rules import RuleFile
from gateway.types import Action, Correction, Exchange, Finding, Outcome, Principal, Refined, Text

MAIL = "li.wei@example.com"
ASKED = (
    Text(("messages", 0, "content"), "system", "Be brief."),
    Text(("messages", 1, "content"), "user", f"I am {MAIL}"),
)
MASKING: dict[str, Any] = {
    "id": "in.code",
    "side": "input",
    "check": {"type": "regex", "pattern": "project [A-Z]{1,9}"},
    "action": "mask",
    "reason": "R101",
}


def rules(*more: dict[str, Any]) -> RuleFile:
    return RuleFile.model_validate({"rules": [MASKING, *more]})


def words(policy: str, **fields: Any) -> Words:
    return Words(Auditing.model_validate({"text": policy, **fields}), rules().rules)


def found(text: str, reason: str = "R205", action: Action = Action.BLOCK, replacement: str = "") -> Finding:
    return Finding("r", reason, action, 0, len(text), replacement, text)


def told(policy: str, said: str = "Fine.", findings: tuple[Finding, ...] = (), **fields: Any) -> dict[str, Any]:
    return words(policy, **fields).told(ASKED, {0: said}, findings, {})


def test_nothing_is_written_if_nothing_is_to_be() -> None:
    assert told("none") == {}


def test_all_of_it_is_written_if_all_is_to_be() -> None:
    line = told("full", findings=(found("surely"),))
    assert [(one["role"], one["text"]) for one in line["asked"]] == [("system", "Be brief."), ("user", f"I am {MAIL}")]
    assert (line["said"], line["found"], "left_out" in line) == ({"0": "Fine."}, ["surely"], False)


def test_personal_data_is_redacted() -> None:
    line = told("redacted", f"Write to {MAIL}.")
    assert line["asked"][1]["text"] == f"I am {MASK}"
    assert line["said"]["0"] == f"Write to {MASK}."
    assert MAIL not in str(line)


def test_what_rules_mask_and_what_they_found_is_redacted() -> None:
    line = told("redacted", "It is project ATLAS, surely safe.", (found("surely"), found("it", "R101")))
    assert line["said"]["0"] == f"It is {MASK}, [R205] safe."
    assert "found" not in line


def test_what_was_masked_on_its_way_is_masked_in_the_log_whatever_the_policy() -> None:
    secret = found("project ATLAS", "R101", Action.MASK, "***")
    line = told("full", "It is project ATLAS.", (secret,))
    assert line["said"]["0"] == "It is ***."


def test_a_keyed_hash_tells_a_text_again_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RETRACE_AUDIT_KEY", "k")
    line = told("hash", "Fine.")
    assert line["said"]["0"] == {"hmac": hmac.new(b"k", b"Fine.", hashlib.sha256).hexdigest(), "chars": 5}
    assert "Fine" not in str(line)
    assert MAIL not in str(line)


def test_corrections_are_texts_like_any() -> None:
    one = Correction(f"ask {MAIL}", "ask us", "the page says so")
    refined = {0: Refined(Outcome.CORRECTED, "rules", (one,)), 1: Refined(Outcome.FINE)}
    line = words("redacted").told(ASKED, {}, (), refined)
    assert line["corrections"] == {"0": [{"quote": f"ask {MASK}", "fixed": "ask us", "evidence": "the page says so"}]}


def test_of_too_many_words_the_answer_and_the_latest_question_come_first() -> None:
    line = told("full", "yes", text_chars=10)
    assert line["said"] == {"0": "yes"}
    assert [one["text"] for one in line["asked"]] == ["I am li" + "…"]
    assert line["left_out"] == 1


def test_texts_that_are_parts_of_others_are_told_once() -> None:
    whole = Text(("messages", 0, "content"), "user", "a\nb", whole=False)
    parts = [Text(("messages", 0, "content", n, "text"), "user", word) for n, word in enumerate("ab")]
    line = words("full").told((*parts, whole), {}, (), {})
    assert [one["text"] for one in line["asked"]] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "findings", "left"),
    [
        ("a risk-free gain", ("risk-free",), "a [R205] gain"),
        ("ab abc", ("ab", "abc"), "[R205] [R205]"),
        ("(x.y) xzy", ("x.y",), "([R205]) xzy"),
        ("a b", ("a", " "), "a b"),
    ],
)
def test_whatever_was_found_gives_way_to_its_reason(text: str, findings: tuple[str, ...], left: str) -> None:
    assert without_found(text, [found(one) for one in findings]) == left


LOOKING: list[dict[str, Any]] = [
    {**MASKING, "id": f"{side}.pii", "side": side, "check": {"type": "pii"}, "action": "monitor"}
    for side in ("input", "output")
]
FEW = {**LOOKING[1], "check": {"type": "pii", "kinds": ["card"]}}
HERE = Exchange("rt-1", "chat", "m", Principal(), ASKED)


@pytest.mark.parametrize(
    ("more", "clean"),
    [
        (LOOKING, True),
        (LOOKING[:1], False),
        ([LOOKING[0], FEW], False),
        ([{**LOOKING[0], "when": {"role": "user"}}, LOOKING[1]], False),
        ([{**LOOKING[0], "when": {"role": ["user", "system"]}}, LOOKING[1]], True),
        ([LOOKING[0], {**LOOKING[1], "when": {"tenant": "other"}}], False),
    ],
)
def test_what_rules_look_for_themselves_need_not_be_looked_for_again(more: list[dict[str, Any]], clean: bool) -> None:
    assert Words(Auditing(), rules(*more).rules).clean(HERE) is clean


def test_the_rules_as_shipped_look_for_all_that_is_to_be_redacted_of_a_question_and_its_answer() -> None:
    shipped = build(Source(Path(__file__).parents[2] / "rules" / "gateway.yaml"))
    asked = HERE._replace(texts=ASKED[1:])
    assert Words(Auditing(), shipped.rules.values()).clean(asked)


def test_marks_that_overlap_become_one() -> None:
    masking = {**MASKING, "id": "in.other", "check": {"type": "words", "words": ["ATLAS B"]}}
    redact = Redactor(rules(masking).rules)
    assert redact("a project ATLAS B c") == f"a {MASK} c"
