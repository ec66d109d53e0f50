"""Tool calls on their way through the relay, and what else stands in events: usage, logprobs, reasons to finish."""

from __future__ import annotations

import orjson
import pytest

from gateway.rules import Rule
from gateway.types import Usage
from tests.relayed import BLOCK, MASK, call, called, finishes, spelled, with_logprobs
from tests.rig import DONE, chat_stream, delta, event, payloads, said
from tests.sight import made, words
from tests.wires import carried, exchange


@pytest.mark.parametrize(
    "arguments",
    [
        '{"do": "bomb"}',
        '{"do": "\\u0062omb"}',
        '{"do": "\\u7206\\u70b8 \\u70b8\\u5f39"}',
        '{"do": "\\u70b8\\u5f39"}',
        '{"\\u70b8\\u5f39": 1}',
        '{"bomb": true}',
        '["x", {"y": ["炸弹"]}]',
        '"bomb"',
        '{"do": "bo\\u006db", "do": "fine"}',
        '{"do": "fine", "do": "bo\\u006db"}',
        '{"do": "bo\\u006db',
        '{"do": "炸弹',
        "not json: bomb",
        '{"do": "b\\u200bomb"}',
        '{"do": "x\\nbomb"}',
    ],
)
@pytest.mark.parametrize("size", [1, 5, 1000])
def test_no_word_hides_in_a_tool_call(arguments: str, size: int) -> None:
    parts = [delta(**call(arguments[at : at + size])) for at in range(0, len(arguments), size)]
    got = carried([delta(**call(name="go")), *parts, delta(finish="tool_calls"), DONE], BLOCK)
    assert called(got.body) == ""
    assert finishes(got.body) == {0: ["content_filter"]}


@pytest.mark.parametrize("arguments", ['{"a": 1}', '{"a":"caf\\u00e9"}', '{"a": 1, "a": 2}', '{"a": ', "", "[1.0]"])
def test_a_tool_call_without_a_finding_goes_on_as_it_came(arguments: str) -> None:
    events = [delta(**call(name="go")), delta(**call(arguments)), delta(finish="tool_calls"), DONE]
    assert carried(events, BLOCK, MASK.model_copy(update={"id": "m"})).body == b"".join(events)


def test_masked_arguments_are_still_json() -> None:
    events = [delta(**call(part)) for part in ('{"to": "a bo', '\\u006db", "n": 1', "}")]
    got = carried([*events, delta(finish="tool_calls"), DONE], MASK)
    assert orjson.loads(called(got.body)) == {"to": "a ***", "n": 1}
    assert finishes(got.body) == {0: ["tool_calls"]}


@pytest.mark.parametrize(
    "arguments", ['{"card": 4111111111111111}', '{"a@b.io": 1}', '{"a": {"x@y.com": {"z": "b@c.io"}}}', '{"a": "a@b.io']
)
def test_what_is_masked_in_a_call_is_gone_wherever_it_stood(arguments: str) -> None:
    rule = made({"type": "pii"}, "mask", name="pii")
    got = carried([delta(**call(arguments)), delta(finish="tool_calls"), DONE], rule)
    assert got.draft.findings
    for secret in (b"4111111111111111", b"a@b.io", b"x@y.com", b"b@c.io"):
        assert secret not in got.body


def test_a_call_waits_until_it_is_whole_and_the_talk_does_not() -> None:
    got = carried(
        [delta("I will. "), delta(**call('{"a": ')), delta(**call("1}")), delta(finish="tool_calls"), DONE], BLOCK
    )
    assert said(got.pieces[0]) == "I will. "
    (with_call,) = [piece for piece in got.pieces if b"arguments" in piece]
    assert finishes(with_call) == {0: ["tool_calls"]}


def test_two_calls_are_judged_each() -> None:
    events = [
        delta(**call('{"a": "bo', 0)),
        delta(**call('mb"}', 1)),
        delta(**call('at"}', 0)),
        delta(finish="tool_calls"),
        DONE,
    ]
    assert carried(events, BLOCK).body == b"".join(events)


def test_a_call_that_goes_on_behind_its_end_is_judged_no_less() -> None:
    events = [delta(**call('{"a": ')), delta(finish="tool_calls"), delta(**call('"bo\\u006db"}')), DONE]
    assert rb"bo\\u006db" not in carried(events, BLOCK).body


def test_a_call_of_very_many_texts_is_judged() -> None:
    arguments = orjson.dumps({"a": ["x"] * 20_000 + ["bomb"]}).decode()
    assert called(carried([delta(**call(arguments)), delta(finish="tool_calls"), DONE], BLOCK).body) == ""


@pytest.mark.parametrize("rule", [MASK, BLOCK])
def test_what_spells_the_text_goes_with_it_and_only_with_it(rule: Rule) -> None:
    got = carried([with_logprobs("fine "), with_logprobs("bomb"), with_logprobs("!", "stop"), DONE], rule).body
    first, second = payloads(got)[:2]
    assert first["choices"][0]["logprobs"] == spelled("fine ")
    assert second["choices"][0]["logprobs"] is None
    assert b'"bomb"' not in got


@pytest.mark.parametrize(("wanted", "told"), [(True, True), (False, False)])
def test_usage_is_told_if_it_was_asked_for(wanted: bool, told: bool) -> None:
    got = carried(chat_stream("ok"), asked=exchange(wants_usage=wanted))
    assert (b"prompt_tokens" in got.body) is told
    assert got.draft.usage == Usage(7, 5)


def test_usage_beside_a_text_is_taken_out_alone_if_it_was_not_asked_for() -> None:
    told = {"prompt_tokens": 7, "completion_tokens": 1, "total_tokens": 8}
    both = event([{"index": 0, "delta": {"content": "ok"}, "finish_reason": "stop"}], usage=told)
    got = carried([both, DONE], asked=exchange(wants_usage=False)).body
    assert said(got) == "ok"
    assert b"usage" not in got


@pytest.mark.parametrize("reason", ["stop", "length", "tool_calls", "content_filter", "odd"])
def test_the_upstream_s_own_finish_reason_is_kept(reason: str) -> None:
    got = carried([delta("a bomb"), delta(finish=reason), DONE], MASK)
    assert finishes(got.body) == {0: [reason]}
    assert got.draft.finish == {0: reason}


def test_an_event_without_choices_keeps_its_place() -> None:
    events = [event([]), delta("ok. "), event([], note="x"), delta(finish="stop"), DONE]
    assert carried(events, BLOCK).body == b"".join(events)


def test_order_is_kept_also_behind_a_held_text() -> None:
    events = [delta("kill "), event([], note="x"), delta("time"), delta(finish="stop"), DONE]
    assert carried(events, words("kill you")).body == b"".join(events)
