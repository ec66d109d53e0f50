"""What a stage is about, by what was heard of an answer; no words of it are kept."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from gateway.marks import Trace
from gateway.tracing.intent import MOST_CALLS, calls, hear, intent


def heard(*payloads: Any) -> Trace:
    trace = Trace()
    for payload in payloads:
        hear(trace, payload if isinstance(payload, bytes) else orjson.dumps(payload))
    return trace


def event(**delta: Any) -> dict[str, Any]:
    return {"model": "m", "choices": [{"index": 0, "delta": delta}]}


def call(name: Any) -> dict[str, Any]:
    return event(tool_calls=[{"index": 0, "id": name, "function": {"name": "secret", "arguments": "secret"}}])


@pytest.mark.parametrize(
    ("told", "about"),
    [
        ([], "answer"),
        ([event(role="assistant", content="")], "answer"),
        ([event(content="x")], "answer"),
        ([event(reasoning="x")], "reasoning"),
        ([event(reasoning_content="x"), event(reasoning_content="y")], "reasoning"),
        ([event(reasoning="x"), event(content="y")], "answer"),
        ([event(content="x"), call("c1")], "tool_call"),
        ([{"choices": [{"text": "x"}]}], "answer"),
        ([{"choices": [{"message": {"content": None, "reasoning": "x"}}]}], "reasoning"),
        ([{"choices": [{"message": {"content": "x", "tool_calls": None}}]}], "answer"),
    ],
)
def test_what_an_answer_is_about(told: list[Any], about: str) -> None:
    assert intent(heard(*told).heard) == about


def test_calls_are_told_by_their_ids_in_their_order_once() -> None:
    trace = heard(call("b"), call("a"), call(None), call("b"))
    assert calls(trace.heard) == ("b", "a")
    assert "secret" not in repr((trace.heard, trace.facts))


def test_what_is_kept_is_bounded_and_holds_no_sentence() -> None:
    trace = heard(*(call(f"c{n}") for n in range(MOST_CALLS + 9)))
    assert len(calls(trace.heard)) <= MOST_CALLS + 2
    assert calls(heard(call("not an id"), call("x" * 65), call(7)).heard) == ()
    assert heard({"model": "what a client wrote", "choices": []}).facts == {}
    assert heard(event(content="x")).facts == {"response_model": "m"}


@pytest.mark.parametrize(
    "payload", [b"", b"[DONE]", b"[]", b"{}", b'{"choices": 1}', b'{"choices": [1, {"delta": 2}]}']
)
def test_what_is_no_event_tells_nothing(payload: bytes) -> None:
    assert not heard(payload).heard
