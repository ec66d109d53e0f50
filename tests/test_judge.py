"""Rules applied in their places. What becomes of findings in a stream stands in test_window.py."""

from __future__ import annotations

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.checks import Check
from gateway.judge import Judge
from gateway.rules import BROKEN, Place, Rule
from gateway.types import Action, Finding, Side, View
from gateway.window import Window
from tests.sight import made, place, regex, words


class Broken(Check):
    """Fails at work."""

    type: Literal["broken"] = "broken"

    def look(self, view: View) -> tuple[list[tuple[int, int]], int]:
        raise ZeroDivisionError


class Picky(Check):
    """Fails on one word, and finds it otherwise."""

    type: Literal["picky"] = "picky"
    fails: bool = False

    def look(self, view: View) -> tuple[list[tuple[int, int]], int]:
        if self.fails and "bad" in view.text:
            raise ValueError("bad")
        place = view.text.find("bad", view.begin)
        return ([] if place < 0 else [(place, place + 3)]), len(view.text)


def rule(check: Check, name: str = "broken", action: Action = Action.BLOCK, on_error: str = "block") -> Rule:
    return Rule.model_construct(id=name, side=Side.OUTPUT, check=check, action=action, reason="R101", on_error=on_error)


def found(judge: Judge, text: str, where: Place | None = None) -> list[Finding]:
    window = Window(judge.lanes(where or place()))
    window.feed(text, final=True)
    return window.taken()


def names(findings: list[Finding]) -> list[str]:
    return sorted(finding.rule for finding in findings)


def test_a_finding_says_what_its_rule_says() -> None:
    (finding,) = found(Judge([words("bomb", action="mask", mask="[x]", reason="R102")]), "a bomb")
    assert finding == Finding("words", "R102", Action.MASK, 2, 6, "[x]")
    assert finding.text == "bomb"
    assert "bomb" not in repr(finding)


@given(st.lists(st.text("ab ", max_size=5), max_size=8))
def test_a_finding_holds_its_own_text_however_the_stream_was_cut(pieces: list[str]) -> None:
    window = Window(Judge([words("bomb"), words("deadly", action="monitor", name="d")]).lanes(place()))
    text = "".join(pieces) + "a deadly bomb"
    for piece in (*pieces, "a dead", "ly bo", "mb"):
        window.feed(piece)
    window.feed("", final=True)
    findings = window.taken()
    assert {finding.text for finding in findings} == {"deadly", "bomb"}
    assert all(text[finding.start : finding.end] == finding.text for finding in findings)


def test_each_kind_of_check_has_its_say() -> None:
    rules = [
        words("bomb", action="tag", name="a"),
        regex("bomb", "tag", name="b"),
        made({"type": "length", "max_chars": 5}, "tag", name="c"),
        made({"type": "pii"}, "tag", name="d"),
        made({"type": "schema", "json_schema": {}}, "tag", name="e"),
    ]
    assert names(found(Judge(rules), "a bomb for j@example.com")) == ["a", "b", "c", "d", "e"]


def test_a_rule_speaks_only_where_it_applies() -> None:
    judge = Judge([words("bomb", name="a", when={"tenant": "acme"}), words("bomb", name="b", when={"role": "user"})])
    assert found(judge, "bomb") == []
    assert names(found(judge, "bomb", place(tenant="acme"))) == ["a"]
    assert names(found(judge, "bomb", place("user"))) == ["b"]


def test_a_rule_speaks_only_on_its_side() -> None:
    judge = Judge([words("bomb", name="in", side="input"), words("bomb", name="out")])
    assert names(found(judge, "bomb")) == ["out"]
    assert names(found(judge, "bomb", place(side=Side.INPUT))) == ["in"]


def test_where_no_rule_applies_nothing_is_scanned() -> None:
    judge = Judge([words("bomb", when={"tenant": "acme"})])
    assert judge.lanes(place()) == ()
    assert judge.lanes(place(side=Side.INPUT)) == ()


def test_the_same_place_is_worked_out_once() -> None:
    judge = Judge([words("bomb")])
    assert judge.lanes(place()) is judge.lanes(place())


def test_no_rules_are_no_lanes() -> None:
    assert Judge([]).lanes(place()) == ()


def test_a_check_that_fails_is_a_block_with_its_own_reason() -> None:
    told: list[str] = []
    (finding,) = found(Judge([rule(Broken())], told.append), "anything")
    assert (finding.rule, finding.reason, finding.action) == ("broken", BROKEN, Action.BLOCK)
    assert told == ["broken"]


@pytest.mark.parametrize("action", [Action.BLOCK, Action.MASK, Action.TAG])
def test_what_a_failing_check_comes_to_is_the_rule_s_own_choice(action: Action) -> None:
    actions = {
        on_error: [f.action.value for f in found(Judge([rule(Broken(), action=action, on_error=on_error)]), "x")]
        for on_error in ("block", "tag", "allow")
    }
    assert actions == {"block": ["block"], "tag": ["tag"], "allow": []}


def test_a_monitored_check_that_fails_changes_nothing_but_is_told() -> None:
    told: list[str] = []
    assert found(Judge([rule(Broken(), action=Action.MONITOR)], told.append), "x") == []
    assert told == ["broken"]


def test_of_many_checks_only_the_failing_one_fails() -> None:
    told: list[str] = []
    rules = [
        rule(Picky(), "sound", Action.TAG),
        rule(Picky(fails=True), "failing", on_error="tag"),
        regex("bad", "tag"),
    ]
    findings = found(Judge(rules, told.append), "a bad word")
    assert sorted((f.rule, f.reason) for f in findings) == [("failing", BROKEN), ("regex", "R101"), ("sound", "R101")]
    assert told == ["failing"]


def test_as_long_as_a_check_does_not_fail_nobody_notices() -> None:
    assert names(found(Judge([rule(Picky(fails=True))]), "all good")) == []


@pytest.mark.long
def test_rules_that_can_not_be_fused_are_refused_at_once() -> None:
    huge = r"[一-龥\w]{1,200}x[\w\u0400-\u04ff]{1,200}y"
    with pytest.raises(ValueError, match="smaller"):
        Judge([regex(huge + str(number), name=f"r{number}") for number in range(20)])


def test_a_thousand_rules_are_as_one() -> None:
    rules = [regex(f"secret{number}[a-z]{{1,3}}", "tag", name=f"r{number}") for number in range(1000)]
    assert names(found(Judge(rules), "the secret7ab and secret999zz")) == ["r7", "r999"]


def test_who_cuts_back_is_known_for_each_place() -> None:
    rules = [
        words("a", name="blocks"),
        words("b", action="rewind", name="everywhere"),
        regex("c", "rewind", name="acme", when={"tenant": "acme"}),
        regex("d", "rewind", name="calls", when={"role": "tool_call"}),
    ]
    judge = Judge(rules)
    told = {
        "assistant": [rule.id for rule in judge.rewinding(place())],
        "tool_call": [rule.id for rule in judge.rewinding(place("tool_call"))],
        "acme": [rule.id for rule in judge.rewinding(place(tenant="acme"))],
    }
    assert told == {
        "assistant": ["everywhere"],
        "tool_call": ["everywhere", "calls"],
        "acme": ["everywhere", "acme"],
    }
    assert judge.rewinding(place()) is judge.rewinding(place())


def test_where_nobody_cuts_back_there_is_nobody() -> None:
    assert Judge([words("a"), words("b", action="mask", name="m")]).rewinding(place()) == ()
