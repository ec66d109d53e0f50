"""Answers that come in one piece."""

from __future__ import annotations

import orjson
import pytest

import gateway.relay
from gateway.errors import UpstreamFault
from gateway.plug import plugs
from gateway.rules import Rule
from gateway.types import Draft, Usage
from tests.relayed import BLOCK, MASK, finishes
from tests.rig import chat_stream, completion, said
from tests.sight import lanes, words
from tests.wires import carried, exchange


def whole(raw: bytes, *rules: Rule, draft: Draft | None = None) -> bytes:
    """The way of an answer that comes in one piece."""
    return gateway.relay.whole(
        plugs("surfaces")["chat"](), exchange(), draft or Draft(), lambda role: lanes(*rules, role=role), raw
    )


def message(raw: bytes) -> tuple[str, str]:
    choice = orjson.loads(raw)["choices"][0]
    return choice["message"]["content"], choice["finish_reason"]


def test_a_whole_answer_without_a_finding_is_the_very_bytes() -> None:
    raw = b' {"choices": [{"index":0, "message":{"content":"caf\\u00e9"}, "finish_reason":"stop"}]}\n'
    assert whole(raw, BLOCK) == raw


def test_a_whole_answer_is_masked() -> None:
    assert message(whole(completion("a b.o.m.b!"), MASK)) == ("a ***!", "stop")


def test_a_whole_answer_is_cut_where_it_is_blocked() -> None:
    assert message(whole(completion("a bomb!"), BLOCK)) == ("a ", "content_filter")


def test_a_call_in_a_whole_answer_is_judged() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "go", "arguments": '{"do": "bo\\u006db"}'}}
    raw = whole(completion("fine", tool_calls=[call]), MASK)
    assert orjson.loads(raw)["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"] == '{"do":"***"}'


def test_a_whole_answer_s_usage_is_booked() -> None:
    draft = Draft()
    whole(completion("fine"), draft=draft)
    assert draft.usage == Usage(7, 5)
    assert draft.finish == {0: "stop"}


@pytest.mark.parametrize("raw", [b"", b"oops", b"[]", b'"x"', b'{"choices": [1]}', b'{"a": \xff}', b'{"choices": "x"}'])
def test_a_whole_answer_that_is_none_is_a_fault(raw: bytes) -> None:
    with pytest.raises(UpstreamFault) as caught:
        whole(raw, BLOCK)
    assert caught.value.kind == "garbage"


@pytest.mark.parametrize("text", ["a bomb", "fine", "a bo", "炸 弹", "bombastic", "b.o.m.b", "", "x" * 300 + " bomb"])
@pytest.mark.parametrize("rule", [MASK, BLOCK, words("bomb", action="tag", name="tag")])
def test_an_answer_in_one_piece_fares_as_in_many(text: str, rule: Rule) -> None:
    draft = Draft()
    at_once = message(whole(completion(text), rule, draft=draft))
    streamed = carried(chat_stream(*text), rule)
    assert at_once == (said(streamed.body), finishes(streamed.body)[0][0])
    assert (draft.findings, draft.finish, draft.usage) == (
        streamed.draft.findings,
        streamed.draft.finish,
        streamed.draft.usage or draft.usage,
    )
