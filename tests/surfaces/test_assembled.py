"""A stream put together is the answer that would have come in one piece."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import openai.types
import openai.types.chat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.surfaces._assembled import assembled
from tests.rig import DONE, chat_stream, delta, event, payloads, text_delta, usage_event

ENVELOPE: dict[str, Any] = {"id": "c1", "created": 3, "model": "m", "system_fingerprint": "f"}
USAGE = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}


def whole(events: Sequence[bytes]) -> dict[str, Any]:
    return assembled([data for data in payloads(b"".join(events)) if data != "[DONE]"])


def token(text: str) -> dict[str, Any]:
    likely = {"token": text, "logprob": -0.25, "bytes": list(text.encode())}
    return {**likely, "top_logprobs": [likely, {"token": "?", "logprob": -9.5, "bytes": [63]}]}


def test_a_chat_stream_is_a_completion() -> None:
    told = whole(chat_stream("Hel", "lo, ", "世", "界"))
    assert told == {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "Hello, 世界"},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": USAGE,
    }
    assert openai.types.chat.ChatCompletion.model_validate(told, strict=True).usage


def test_a_stream_of_texts_is_a_text() -> None:
    told = whole([text_delta("Hel"), text_delta("lo"), text_delta(finish="stop"), DONE])
    (choice,) = told["choices"]
    assert told["object"] == "text_completion"
    assert choice == {"index": 0, "text": "Hello", "logprobs": None, "finish_reason": "stop"}
    assert openai.types.Completion.model_validate(told, strict=True).choices[0].text == "Hello"


def test_an_answer_that_only_calls_has_no_content() -> None:
    def part(index: int, arguments: str, **named: Any) -> bytes:
        return delta(tool_calls=[{"index": index, **named, "function": {"arguments": arguments}}])

    first = delta(
        role="assistant",
        tool_calls=[
            {"index": 0, "id": "c1", "type": "function", "function": {"name": "one", "arguments": ""}},
            {"index": 1, "id": "c2", "type": "function", "function": {"name": "two", "arguments": "{"}},
        ],
    )
    told = whole([first, part(0, '{"城": '), part(1, "}"), part(0, '"沪"}', id="c1"), delta(finish="tool_calls")])
    message = told["choices"][0]["message"]
    assert message["content"] is None
    assert message["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "one", "arguments": '{"城": "沪"}'}},
        {"id": "c2", "type": "function", "function": {"name": "two", "arguments": "{}"}},
    ]
    assert openai.types.chat.ChatCompletion.model_validate(told, strict=True)


def test_what_is_told_in_lists_is_joined_and_of_the_rest_the_last_word_counts() -> None:
    def chunk(text: str, **more: Any) -> bytes:
        lists = {"tokens": [text], "token_logprobs": [-1.0], "top_logprobs": [{text: -1.0}], "text_offset": [0]}
        choice = {"index": 0, "text": text, "logprobs": lists, "finish_reason": None, "token_ids": [len(text)], **more}
        return event([choice], object="text_completion", usage=None)

    told = whole([chunk("a "), chunk("bc", finish_reason="stop", stop_reason=7), usage_event(), DONE])
    (choice,) = told["choices"]
    assert choice["logprobs"]["tokens"] == ["a ", "bc"]
    assert choice["logprobs"]["top_logprobs"] == [{"a ": -1.0}, {"bc": -1.0}]
    assert (choice["token_ids"], choice["stop_reason"], choice["finish_reason"]) == ([2, 2], 7, "stop")
    assert told["usage"] == USAGE


def test_a_note_of_the_gateway_stands_where_it_was_told() -> None:
    end = event([{"index": 0, "delta": {}, "finish_reason": "stop", "retrace": {"attempts": [{"rule": "r"}]}}])
    told = whole([delta("so"), end, event([], usage={**USAGE, "retrace": {"attempts": 2, "wasted_tokens": 4}})])
    assert told["choices"][0]["retrace"] == {"attempts": [{"rule": "r"}]}
    assert told["usage"]["retrace"] == {"attempts": 2, "wasted_tokens": 4}


def test_nothing_told_is_no_choice() -> None:
    assert assembled([]) == {"object": None, "choices": []}


# Any answer, told in any parts.

TEXTS = st.sampled_from(["", "ok", " yes", "你好，世界", "🙂 e\u0301", '"q"\n\\', "a longer text, which has a comma"])
CALLS = st.lists(st.sampled_from([{}, {"城": "上海"}, {"n": [1, {"x": 'a"b\n'}]}]), max_size=3)


@st.composite
def choices(draw: st.DrawFn, index: int) -> dict[str, Any]:
    """A choice of a whole chat answer."""
    message: dict[str, Any] = {"role": "assistant", "content": draw(TEXTS)}
    if thought := draw(TEXTS):
        message |= {"reasoning_content": thought, "reasoning": thought}
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": f"f{n}", "arguments": json.dumps(given)}}
        for n, given in enumerate(draw(CALLS))
    ]
    if calls:
        message["tool_calls"] = calls
    spelt = draw(st.booleans())
    logprobs = {"content": [token(char) for char in message["content"]], "refusal": None} if spelt else None
    finish = draw(st.sampled_from(["stop", "length", "tool_calls", "content_filter"]))
    return {"index": index, "message": message, "logprobs": logprobs, "finish_reason": finish}


def told(draw: st.DrawFn, choice: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The choice as the events of a stream tell it: first who speaks, and last why it ended."""
    index, message = choice["index"], choice["message"]
    parts: list[dict[str, Any]] = []
    thought, content = message.get("reasoning_content", ""), message["content"]
    parts += [{"delta": {"reasoning_content": one, "reasoning": one}} for one in halves(draw, thought)]
    for one in halves(draw, content):
        spelling = {"content": [token(char) for char in one], "refusal": None} if choice["logprobs"] else None
        parts.append({"delta": {"content": one}, "logprobs": spelling})
    for n, call in enumerate(message.get("tool_calls", ())):
        head = {**call, "index": n, "function": {**call["function"], "arguments": ""}}
        parts.append({"delta": {"tool_calls": [head]}})
        for one in halves(draw, call["function"]["arguments"]):
            parts.append({"delta": {"tool_calls": [{"index": n, "function": {"arguments": one}}]}})
    empty: dict[str, Any] | None = {"content": [], "refusal": None} if choice["logprobs"] else None
    first = {"delta": {"role": "assistant", "content": ""}, "logprobs": empty}
    last = {"delta": {}, "finish_reason": choice["finish_reason"]}
    return [{"index": index, "logprobs": None, "finish_reason": None, **part} for part in (first, *parts, last)]


def halves(draw: st.DrawFn, text: str) -> list[str]:
    at = draw(st.integers(0, len(text)))
    return [part for part in (text[:at], text[at:]) if part]


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(count=st.integers(1, 3), data=st.data())
def test_any_answer_is_the_same_whole_and_in_parts(count: int, data: st.DataObject) -> None:
    made = [data.draw(choices(index)) for index in range(count)]
    lanes = [data.draw(st.composite(told)(choice)) for choice in made]
    order = data.draw(st.permutations([n for n, lane in enumerate(lanes) for _ in lane]))
    lines = [iter(lane) for lane in lanes]
    events = [{**ENVELOPE, "object": "chat.completion.chunk", "choices": [next(lines[n])]} for n in order]
    events.append({**ENVELOPE, "object": "chat.completion.chunk", "choices": [], "usage": USAGE})
    body = {**ENVELOPE, "object": "chat.completion", "choices": made, "usage": USAGE}
    assert assembled(events) == body
    assert openai.types.chat.ChatCompletion.model_validate(body)


@pytest.mark.parametrize("count", [1, 2])
def test_the_events_themselves_are_left_as_they_were(count: int) -> None:
    events = [data for data in payloads(b"".join(chat_stream("a", "b") * count)) if data != "[DONE]"]
    before = json.dumps(events)
    assembled(events)
    assert json.dumps(events) == before
