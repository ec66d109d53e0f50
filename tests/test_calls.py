"""The arguments of a tool call, judged whole. Their way over the wire stands in test_relay.py."""

from __future__ import annotations

import json

import pytest

from gateway.calls import CallWindow
from gateway.rules import Rule
from gateway.types import Action
from tests.sight import lanes, made, words

MASK = words("bomb", "炸弹", action="mask")
BLOCK = words("bomb", "炸弹")


def judged(arguments: str, *rules: Rule) -> CallWindow:
    window = CallWindow(lanes(*rules))
    window.feed(arguments, final=True)
    return window


def masked(arguments: str, *rules: Rule) -> str:
    window = judged(arguments, *rules)
    return window.render(0, arguments)


def test_nothing_leaves_before_the_call_is_whole() -> None:
    window = CallWindow(lanes(BLOCK))
    window.feed('{"a": ')
    assert window.frontier == 0
    window.feed("1}", final=True)
    assert window.frontier == 8


def test_without_rules_it_still_waits_and_then_leaves_as_it_came() -> None:
    window = CallWindow(())
    window.feed('{"a": "bomb"}', final=True)
    assert (window.frontier, window.touches(0, 13), window.halted) == (13, False, None)


def test_a_call_without_a_finding_is_not_touched() -> None:
    assert not judged('{"a": "fine"}', BLOCK, MASK.model_copy(update={"id": "m"})).touches(0, 13)


def test_a_blocked_call_says_nothing_at_all() -> None:
    window = judged('{"a": "fine", "b": "bomb"}', BLOCK)
    assert window.halted
    assert window.touches(0, 5)
    assert window.render(0, '{"a":') == ""


def test_the_masked_call_stands_in_its_first_piece() -> None:
    window = judged('{"a": "a bomb"}', MASK)
    assert [window.render(0, '{"a": "a b'), window.render(10, 'omb"}')] == ['{"a":"a ***"}', ""]


def test_texts_are_judged_each_by_itself() -> None:
    assert judged('["bo", "mb"]', BLOCK).halted is None


@pytest.mark.parametrize(
    ("arguments", "left"),
    [
        ('{"a": "bo\\u006db", "n": [1, true, null]}', {"a": "***", "n": [1, True, None]}),
        ('["\\u70b8\\u5f39", {"x": "fine"}]', ["***", {"x": "fine"}]),
        ('"bomb"', "***"),
        ('{"a": "bomb", "b": 12345678901234567890}', {"a": "***", "b": 12345678901234567890}),
    ],
)
def test_masked_arguments_stay_json_and_keep_the_rest(arguments: str, left: object) -> None:
    assert json.loads(masked(arguments, MASK)) == left


@pytest.mark.parametrize("arguments", ['{"bomb": 1}', '{"bo\\u006db": 1}', '{"x": {"bomb": {"y": "bomb"}}}'])
def test_a_name_is_masked_too(arguments: str) -> None:
    left = json.loads(masked(arguments, MASK))
    assert "bomb" not in json.dumps(left)


@pytest.mark.parametrize(
    "arguments", ['{"card": 4111111111111111}', "4111111111111111", '{"a": [4111111111111111, "ok"]}']
)
def test_a_number_is_masked_too(arguments: str) -> None:
    assert "4111111111111111" not in masked(arguments, made({"type": "pii"}, "mask"))


@pytest.mark.parametrize("arguments", ['{"a": "bo\\u006db', "bomb", '{"a": "x", "b": bomb}', "{'a': 'bo\\u006db'}"])
def test_what_is_no_json_is_judged_with_its_escapes_undone(arguments: str) -> None:
    assert judged(arguments, BLOCK).halted
    assert "bomb" not in masked(arguments, MASK)
    assert "u006d" not in masked(arguments, MASK)


@pytest.mark.parametrize(
    ("arguments", "found"),
    [('{"a": "bo\\u006db", "a": "fine"}', (7, 11)), ('{"a": {"b": "bo\\u006db"}, "a": 1}', (13, 17))],
)
def test_of_a_name_given_twice_both_values_are_judged(arguments: str, found: tuple[int, int]) -> None:
    """Which of the two a client takes is up to its parser."""
    halted = judged(arguments, BLOCK).halted
    assert halted
    assert (halted.start, halted.end) == found


def test_escapes_of_escapes_stay_what_they_are() -> None:
    arguments = '{"a": "bo\\\\u006db"}'
    assert not judged(arguments, BLOCK).touches(0, len(arguments))


@pytest.mark.parametrize("depth", [10, 150, 100_000])
def test_however_deep_it_stands_it_is_judged(depth: int) -> None:
    arguments = '{"a":' * depth + '"bo\\u006db"' + "}" * depth
    halted = judged(arguments, BLOCK).halted
    assert halted
    assert halted.start == 5 * depth + 1


def test_a_finding_that_is_seen_in_both_readings_is_told_once() -> None:
    window = judged('"a" bomb', words("bomb", action="tag"))
    assert len(window.taken()) == 1
    assert window.taken() == []


# What is cut back, and what is pardoned.

REWIND = words("bomb", action="rewind", name="rewinds")


def test_of_a_call_that_is_dropped_nothing_was_ever_said() -> None:
    window = judged('{"a": "bomb", "b": "secret"}', REWIND, words("secret", action="mask", name="mask"))
    window.drop()
    assert (window.halted, window.limit, window.frontier) == (None, 0, 0)
    assert window.touches(0, 5)
    assert window.render(0, '{"a":') == ""
    assert [finding.rule for finding in window.taken()] == ["rewinds"]


def test_a_fine_call_can_be_dropped_with_another() -> None:
    window = judged('{"a": "fine"}', REWIND)
    window.drop()
    assert window.render(0, '{"a": "fine"}') == ""
    assert window.taken() == []


def test_a_call_that_is_pardoned_leaves_as_it_came() -> None:
    arguments = '{"a": "bomb", "b": "bo\\u006db"}'
    window = judged(arguments, REWIND)
    window.pardon(Action.TAG, True)
    assert (window.halted, window.frontier) == (None, len(arguments))
    assert not window.touches(0, len(arguments))
    assert {(finding.rule, finding.action) for finding in window.taken()} == {("rewinds", Action.TAG)}


@pytest.mark.parametrize("arguments", ['{"a": "bomb", "b": "gun"}', '{"b": "gun", "a": "bomb"}', '{"a": "bomb gun"}'])
def test_whatever_else_is_found_in_a_call_that_is_pardoned_counts(arguments: str) -> None:
    window = judged(arguments, REWIND, words("gun", name="block"))
    if window.halted and window.halted.rule == "rewinds":
        window.pardon(Action.TAG, True)
    assert window.halted
    assert (window.halted.rule, window.frontier) == ("block", 0)
    assert window.render(0, arguments) == ""


def test_a_call_that_is_pardoned_is_masked_all_the_same() -> None:
    window = judged('{"a": "bomb", "b": "gun"}', REWIND, words("gun", action="mask", name="mask"))
    window.pardon(Action.REFINE, True)
    assert json.loads(window.render(0, "")) == {"a": "bomb", "b": "***"}
