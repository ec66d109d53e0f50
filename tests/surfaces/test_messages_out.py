"""What Anthropic's own client makes of an answer."""

from __future__ import annotations

from typing import Any

import anthropic
import orjson
import pytest
from anthropic.types import Message
from hypothesis import given, settings

from gateway.errors import Refused, Unavailable, UpstreamFault
from gateway.surfaces._messages_out import MessagesTeller, error_body
from tests.surfaces.clients import JSON, USED, call, chunk, claude, completion, exchange, parsed, wire
from tests.surfaces.streams import Stream, streams

ASK: dict[str, Any] = {"model": "m", "max_tokens": 64, "messages": [{"role": "user", "content": "hi"}]}


def teller(thoughts: bool = True) -> MessagesTeller:
    return MessagesTeller(exchange("messages"), thoughts)


def streamed(*chunks: dict[str, Any], thoughts: bool = True) -> Message:
    with claude(wire(teller(thoughts), chunks)).messages.stream(**ASK) as stream:
        return stream.get_final_message()


def whole(data: dict[str, Any], thoughts: bool = True) -> Message:
    body = orjson.dumps(teller(thoughts).whole(data))
    message: Message = claude(body, kind=JSON).messages.create(**ASK)
    return message


def blocks(message: Message) -> list[tuple[Any, ...]]:
    told: list[tuple[Any, ...]] = []
    for block in message.content:
        if block.type == "tool_use":
            told.append((block.id, block.name, block.input))
        elif block.type == "thinking":
            told.append(("reasoning", block.thinking))
        else:
            assert block.type == "text"
            told.append(("text", block.text))
    return told


REASONS = {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}


@settings(max_examples=100, deadline=None)
@given(streams())
def test_whatever_order_a_stream_has_the_client_s_message_is_what_was_said(stream: Stream) -> None:
    message = streamed(*stream.chunks)
    assert blocks(message) == [*stream.runs, *stream.calls]
    assert message.stop_reason == ("tool_use" if stream.calls else REASONS[stream.finish])
    assert (message.usage.input_tokens, message.usage.output_tokens) == (12, 5)


@settings(max_examples=100, deadline=None)
@given(streams())
def test_each_block_is_closed_before_the_next_begins(stream: Stream) -> None:
    events = parsed(wire(teller(), stream.chunks))
    assert all(name == data["type"] for name, data in events)
    names = [name for name, _ in events]
    assert (names[0], names[-2], names[-1]) == ("message_start", "message_delta", "message_stop")
    opened: int | None = None
    begun = 0
    for name, data in events[1:-2]:
        if name == "content_block_start":
            assert opened is None
            assert data["index"] == begun
            opened, begun = begun, begun + 1
        else:
            assert data["index"] == opened
            opened = None if name == "content_block_stop" else opened
    assert opened is None


def test_a_text_stream_has_just_the_events_of_the_real_one() -> None:
    wired = wire(
        teller(), [chunk(role="assistant", content=""), chunk(content="你"), chunk(content="好"), chunk("stop")]
    )
    assert [name for name, _ in parsed(wired)] == [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


def test_the_message_is_named_after_the_exchange_and_says_nothing_at_its_start() -> None:
    start = parsed(wire(teller(), [chunk("stop", content="x")]))[0][1]["message"]
    assert (start["id"], start["model"], start["content"], start["stop_reason"]) == ("msg_1", "m", [], None)


def test_usage_is_told_at_the_end_and_cached_tokens_beside_the_others() -> None:
    usage = streamed(chunk("stop", content="x"), USED).usage
    assert (usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens) == (12, 8, 5)
    assert usage.output_tokens_details
    assert usage.output_tokens_details.thinking_tokens == 2


def test_usage_may_come_with_the_last_choice() -> None:
    usage = streamed(chunk(content="x"), chunk("stop", usage={"prompt_tokens": 3, "completion_tokens": 1})).usage
    assert (usage.input_tokens, usage.cache_read_input_tokens, usage.output_tokens) == (3, None, 1)


def test_what_the_gateway_says_of_the_usage_stands_beside_it() -> None:
    note = {"attempts": 2, "wasted_tokens": 3}
    usage = {"prompt_tokens": 3, "completion_tokens": 1, "retrace": note}
    events = dict(parsed(wire(teller(), [chunk("stop", content="x", usage=usage)])))
    assert events["message_delta"]["usage"] == {"input_tokens": 3, "output_tokens": 1, "retrace": note}


def test_a_stop_sequence_is_named() -> None:
    last = chunk("stop")
    last["choices"][0]["stop_reason"] = "停"
    message = streamed(chunk(content="x"), last)
    assert (message.stop_reason, message.stop_sequence) == ("stop_sequence", "停")
    last["choices"][0]["stop_reason"] = 151645  # a token that ends every answer
    assert streamed(chunk(content="x"), last).stop_reason == "end_turn"


@pytest.mark.parametrize(
    ("finish", "reason"),
    [("content_filter", "refusal"), ("length", "max_tokens"), ("abort", "max_tokens"), ("stop", "end_turn")],
)
def test_why_it_ended_is_told_in_the_client_s_words(finish: str, reason: str) -> None:
    assert streamed(chunk(finish, content="x")).stop_reason == reason
    assert whole(completion(finish, content="x")).stop_reason == reason


def test_what_was_filtered_calls_nothing() -> None:
    message = streamed(chunk(content="x"), chunk("content_filter", tool_calls=[call(0, "", "pay", "c1")]))
    assert blocks(message) == [("text", "x")]
    assert message.stop_details
    assert message.stop_details.type == "refusal"


def test_a_call_that_was_cut_keeps_what_there_is() -> None:
    cut = [call(0, '{"city": "上海", "days": [1, 2', "weather", "c1")]
    message = streamed(chunk("length", tool_calls=cut))
    assert blocks(message) == [("c1", "weather", {"city": "上海", "days": [1, 2]})]
    assert message.stop_reason == "max_tokens"
    assert blocks(whole(completion("length", tool_calls=cut))) == blocks(message)


@pytest.mark.parametrize("arguments", ["not json", "[1]", '"text"', "{'a': 1}", '{"a": ' * 400 + "1" + "}" * 400])
def test_arguments_that_are_no_object_are_told_and_not_lost(arguments: str) -> None:
    odd = [call(0, arguments, "f", "c1")]
    expected = [("c1", "f", {"arguments": arguments})]
    assert blocks(streamed(chunk("tool_calls", tool_calls=odd))) == expected
    assert blocks(whole(completion("tool_calls", tool_calls=odd))) == expected


def test_reasoning_can_be_left_out() -> None:
    chunks = [chunk(reasoning="hm"), chunk(content="a"), chunk(reasoning="hm"), chunk("stop", content="b")]
    assert blocks(streamed(*chunks, thoughts=False)) == [("text", "ab")]
    assert blocks(whole(completion(reasoning="hm", content="ab"), thoughts=False)) == [("text", "ab")]


def test_a_whole_answer_is_a_message() -> None:
    calls = [call(0, '{"city": "上海"}', "weather", "c1"), call(1, "", "now", "c2")]
    message = whole(completion("stop", reasoning_content="想", content="好", tool_calls=calls))
    assert blocks(message) == [
        ("reasoning", "想"),
        ("text", "好"),
        ("c1", "weather", {"city": "上海"}),
        ("c2", "now", {}),
    ]
    assert message.stop_reason == "tool_use"
    assert (message.usage.input_tokens, message.usage.output_tokens) == (7, 3)
    assert (message.id, message.model, message.role) == ("msg_1", "m", "assistant")


def test_parts_and_a_refusal_are_text() -> None:
    parts = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert blocks(whole(completion(content=parts))) == [("text", "ab")]
    assert blocks(streamed(chunk("stop", refusal="no"))) == [("text", "no")]


def test_nothing_said_is_an_empty_message() -> None:
    assert blocks(streamed(chunk("stop"))) == []
    assert blocks(streamed()) == []


def test_pings_do_no_harm_wherever_they_stand() -> None:
    one = teller()
    body = one.ping() + one.ping() + b"".join(one.events(chunk(content="好"))) + one.ping() + b"".join(one.finish())
    with claude(body).messages.stream(**ASK) as stream:
        assert blocks(stream.get_final_message()) == [("text", "好")]
    assert [name for name, _ in parsed(body)][:3] == ["message_start", "ping", "ping"]


@pytest.mark.parametrize("begun", [False, True])
def test_a_fault_ends_the_stream_and_the_client_raises(begun: bool) -> None:
    one = teller()
    body = b"".join(one.events(chunk(content="x"))) if begun else b""
    body += one.fault(UpstreamFault("it broke off", kind="broken_off"))
    assert one.finish() == []
    assert one.events(chunk(content="y")) == []
    with pytest.raises(anthropic.APIStatusError) as caught, claude(body).messages.stream(**ASK) as stream:
        stream.until_done()
    assert (caught.value.type, caught.value.api_message) == ("api_error", "it broke off")


def test_an_upstream_s_own_error_in_the_stream_is_one_here() -> None:
    body = wire(teller(), [chunk(content="x"), {"error": {"message": "engine dead", "code": 500}}])
    with pytest.raises(anthropic.APIStatusError, match="engine dead"), claude(body).messages.stream(**ASK) as stream:
        stream.until_done()
    with pytest.raises(UpstreamFault, match="engine dead"):
        teller().whole({"error": "engine dead"})


def test_an_error_in_the_client_s_shape_goes_as_it_is() -> None:
    one = teller()
    body = b"".join(one.events(error_body(503, "down", "no_healthy_backend")))
    with pytest.raises(anthropic.APIStatusError) as caught, claude(body).messages.stream(**ASK) as stream:
        stream.until_done()
    assert (caught.value.type, caught.value.error_code) == ("overloaded_error", "no_healthy_backend")
    assert one.finish() == []


@pytest.mark.parametrize(
    ("status", "kind", "raised"),
    [
        (400, "invalid_request_error", anthropic.BadRequestError),
        (401, "authentication_error", anthropic.AuthenticationError),
        (404, "not_found_error", anthropic.NotFoundError),
        (413, "request_too_large", anthropic.APIStatusError),
        (422, "invalid_request_error", anthropic.UnprocessableEntityError),
        (429, "rate_limit_error", anthropic.RateLimitError),
        (500, "api_error", anthropic.InternalServerError),
        (503, "overloaded_error", anthropic.InternalServerError),
        (504, "timeout_error", anthropic.InternalServerError),
    ],
)
def test_an_error_has_the_type_of_its_status(status: int, kind: str, raised: type[anthropic.APIStatusError]) -> None:
    body = orjson.dumps(error_body(status, "不行", "some_code"))
    with pytest.raises(raised) as caught:
        claude(body, status, JSON).messages.create(**ASK)
    assert (caught.value.type, caught.value.api_message, caught.value.error_code) == (kind, "不行", "some_code")


def test_an_error_says_which_rule_it_was_and_never_none() -> None:
    fault = Refused("no", status=400, reason="R101", rule="r")
    told = error_body(fault.status, fault.message, fault.code, fault.extra)
    assert told["error"]["retrace"] == {"reason": "R101", "rule": "r"}
    assert b"None" not in orjson.dumps(error_body(503, Unavailable("down").message, None))


def test_why_a_rule_ended_it_is_told_if_the_gateway_says_it() -> None:
    last = chunk("content_filter")
    last["choices"][0]["retrace"] = {"verdict": "block", "reason": "R101"}
    events = dict(parsed(wire(teller(), [chunk(content="x"), last])))
    assert events["message_delta"]["delta"]["retrace"] == {"verdict": "block", "reason": "R101"}
    data = completion("content_filter", content="x")
    data["choices"][0]["retrace"] = {"reason": "R101"}
    assert teller().whole(data)["retrace"] == {"reason": "R101"}
