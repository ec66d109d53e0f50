"""What OpenAI's own client makes of an answer."""

from __future__ import annotations

from typing import Any

import openai
import orjson
import pytest
from hypothesis import given, settings
from openai.types.responses import Response

from gateway.errors import UpstreamFault
from gateway.surfaces._responses_out import ResponsesTeller
from tests.surfaces.clients import JSON, USED, call, chunk, completion, exchange, gpt, parsed, wire
from tests.surfaces.streams import Stream, streams

ASKED: dict[str, Any] = {"model": "m", "input": "hi"}


def teller(**body: Any) -> ResponsesTeller:
    return ResponsesTeller(exchange("responses"), {**ASKED, **body})


def final(body: bytes) -> Response:
    """The response that the stream's last event holds; the client's own state machine has read all before it."""
    last: Response | None = None
    with gpt(body).responses.stream(**ASKED) as stream:
        for event in stream:
            if event.type in ("response.completed", "response.incomplete", "response.failed"):
                assert last is None
                last = event.response
    assert last is not None
    return last


def streamed(*chunks: dict[str, Any], **body: Any) -> Response:
    return final(wire(teller(**body), chunks))


def whole(data: dict[str, Any], **body: Any) -> Response:
    response: Response = gpt(orjson.dumps(teller(**body).whole(data)), kind=JSON).responses.create(**ASKED)
    return response


def items(response: Response) -> list[tuple[Any, ...]]:
    told: list[tuple[Any, ...]] = []
    for item in response.output:
        if item.type == "function_call":
            told.append((item.call_id, item.name, orjson.loads(item.arguments)))
        elif item.type == "reasoning":
            told.append(("reasoning", "".join(part.text for part in item.content or [])))
        else:
            assert item.type == "message"
            told += [
                ("text", part.text) if part.type == "output_text" else ("no", part.refusal) for part in item.content
            ]
    return told


@pytest.mark.long
@settings(max_examples=100, deadline=None)
@given(streams())
def test_whatever_order_a_stream_has_the_client_s_response_is_what_was_said(stream: Stream) -> None:
    response = streamed(*stream.chunks)
    assert items(response) == [*stream.runs, *stream.calls]
    assert response.status == ("incomplete" if stream.finish == "length" else "completed")
    assert response.output_text == "".join(text for kind, text in stream.runs if kind == "text")
    assert response.usage
    assert (response.usage.input_tokens, response.usage.output_tokens, response.usage.total_tokens) == (20, 5, 25)


@settings(max_examples=100, deadline=None)
@given(streams())
def test_what_the_deltas_say_is_what_is_said_to_be_done(stream: Stream) -> None:
    events = parsed(wire(teller(), stream.chunks))
    assert all(name == data["type"] for name, data in events)
    assert [data["sequence_number"] for _, data in events] == list(range(len(events)))
    said: dict[int, str] = {}
    opened = -1
    for name, data in events[2:-1]:
        if name == "response.output_item.added":
            assert opened == -1
            opened = data["output_index"]
            assert opened == len(said)
            said[opened] = ""
        assert data["output_index"] == opened
        if name.endswith(".delta"):
            said[opened] += data["delta"]
        elif name.endswith((".output_text.done", ".reasoning_text.done", ".arguments.done")):
            assert said[opened] == data.get("text", data.get("arguments"))
        elif name == "response.output_item.done":
            assert data["item"] == events[-1][1]["response"]["output"][opened]
            opened = -1
    assert opened == -1


def test_a_text_stream_has_just_the_events_of_the_real_one() -> None:
    wired = wire(
        teller(), [chunk(role="assistant", content=""), chunk(content="你"), chunk(content="好"), chunk("stop")]
    )
    assert [name for name, _ in parsed(wired)] == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]


def test_a_call_s_events_are_those_of_the_real_one() -> None:
    chunks = [chunk(tool_calls=[call(0, '{"a"', "f", "c1")]), chunk("tool_calls", tool_calls=[call(0, ": 1}")])]
    events = parsed(wire(teller(), chunks))[2:-1]
    assert [name for name, _ in events] == [
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
    ]
    added = events[0][1]["item"]
    assert (added["call_id"], added["name"], added["arguments"], added["status"]) == ("c1", "f", "", "in_progress")


def test_what_the_gateway_says_of_the_usage_stands_beside_it() -> None:
    note = {"attempts": 2, "wasted_tokens": 3}
    usage = {"prompt_tokens": 3, "completion_tokens": 1, "retrace": note}
    ended = parsed(wire(teller(), [chunk("stop", content="x", usage=usage)]))[-1][1]["response"]
    assert ended["usage"]["retrace"] == note
    assert (ended["usage"]["input_tokens"], ended["usage"]["total_tokens"]) == (3, 4)


def test_before_anything_is_said_there_is_no_output_and_no_usage() -> None:
    name, data = parsed(wire(teller(), [chunk("stop", content="x")]))[0]
    response = data["response"]
    assert name == "response.created"
    assert (response["id"], response["status"], response["output"], response["usage"]) == (
        "resp_1",
        "in_progress",
        [],
        None,
    )


@pytest.mark.parametrize(
    ("finish", "status", "reason"),
    [
        ("stop", "completed", None),
        ("length", "incomplete", "max_output_tokens"),
        ("content_filter", "incomplete", "content_filter"),
        ("abort", "incomplete", None),
    ],
)
def test_why_it_ended_is_told_in_the_client_s_words(finish: str, status: str, reason: str | None) -> None:
    for response in (streamed(chunk(content="x"), chunk(finish)), whole(completion(finish, content="x"))):
        assert response.status == status
        assert (response.incomplete_details.reason if response.incomplete_details else None) == reason
        (item,) = response.output
        assert item.type == "message"
        assert item.status == status


def test_what_was_filtered_calls_nothing() -> None:
    response = streamed(chunk(content="x"), chunk("content_filter", tool_calls=[call(0, "", "pay", "c1")]))
    assert items(response) == [("text", "x")]


def test_only_the_last_call_of_an_answer_that_was_cut_is_incomplete() -> None:
    cut = [call(0, "{}", "f", "c1"), call(1, '{"a', "g", "c2")]
    for response in (
        streamed(chunk("length", content="x", tool_calls=cut)),
        whole(completion("length", content="x", tool_calls=cut)),
    ):
        statuses = [item.status for item in response.output if item.type in ("message", "function_call")]
        assert statuses == ["completed", "completed", "incomplete"]


def test_usage_is_told_in_full_or_not_at_all() -> None:
    usage = streamed(chunk("stop", content="x"), USED).usage
    assert usage
    assert (usage.input_tokens_details.cached_tokens, usage.output_tokens_details.reasoning_tokens) == (8, 2)
    assert streamed(chunk("stop", content="x")).usage is None


def test_a_whole_answer_is_a_response() -> None:
    calls = [call(0, '{"city": "上海"}', "weather", "c1"), call(1, "{}", "now", "c2")]
    response = whole(completion("tool_calls", reasoning="想", content="好", tool_calls=calls))
    assert items(response) == [
        ("reasoning", "想"),
        ("text", "好"),
        ("c1", "weather", {"city": "上海"}),
        ("c2", "now", {}),
    ]
    assert (response.id, response.model, response.status, response.output_text) == ("resp_1", "m", "completed", "好")
    assert len({item.id for item in response.output}) == 4


def test_a_refusal_is_one() -> None:
    assert items(streamed(chunk(refusal="不"), chunk("stop", refusal="行"))) == [("no", "不行")]
    assert items(whole(completion(refusal="no"))) == [("no", "no")]


def test_a_response_says_again_what_was_asked() -> None:
    tools = [{"type": "function", "name": "f", "parameters": {}, "strict": True}]
    asked: dict[str, Any] = {"instructions": "be good", "temperature": 0.5, "metadata": {"a": "b"}, "tools": tools}
    for response in (streamed(chunk("stop", content="x"), **asked), whole(completion(content="x"), **asked)):
        assert (response.instructions, response.temperature, response.metadata) == ("be good", 0.5, {"a": "b"})
        assert (response.tools[0].type, response.tool_choice, response.parallel_tool_calls) == (
            "function",
            "auto",
            True,
        )
        assert (response.previous_response_id, response.background) == (None, False)


def test_how_likely_each_token_was_stays_with_its_text() -> None:
    def spelt(*tokens: str, **delta: Any) -> dict[str, Any]:
        data = chunk(**delta)
        content = [{"token": token, "logprob": -0.5, "bytes": list(token.encode())} for token in tokens]
        data["choices"][0]["logprobs"] = {"content": content}
        return data

    chunks = [spelt("a", content="a"), spelt("half", content=""), spelt("rest", content="🙂"), chunk("stop")]
    events = parsed(wire(teller(), chunks))
    deltas = [data for name, data in events if name == "response.output_text.delta"]
    assert [[entry["token"] for entry in delta["logprobs"]] for delta in deltas] == [["a"], ["half", "rest"]]
    response = final(wire(teller(), chunks))
    (item,) = response.output
    assert item.type == "message"
    (part,) = item.content
    assert part.type == "output_text"
    assert [entry.token for entry in part.logprobs or []] == ["a", "half", "rest"]


def test_a_comment_between_events_does_no_harm() -> None:
    one = teller()
    assert one.ping() == b""
    body = b": keep-alive\n" + b"".join(one.events(chunk(content="好"))) + b": keep-alive\n" + b"".join(one.finish())
    assert items(final(body)) == [("text", "好")]


@pytest.mark.parametrize("begun", [False, True])
def test_a_fault_ends_the_stream_and_the_client_raises(begun: bool) -> None:
    one = teller()
    body = b"".join(one.events(chunk(content="半"))) if begun else b""
    body += one.fault(UpstreamFault("it broke off", kind="broken_off"))
    assert one.finish() == []
    with pytest.raises(openai.APIError, match="it broke off"), gpt(body).responses.stream(**ASKED) as stream:
        stream.until_done()
    names = [name for name, _ in parsed(body)]
    assert names[-1] == "error"
    assert (names[-2] if begun else None) == ("response.failed" if begun else None)


def test_an_error_keeps_its_code() -> None:
    body = wire(teller(), [{"error": {"message": "full", "type": "rate_limit", "code": "too_many", "param": None}}])
    with pytest.raises(openai.APIError) as caught, gpt(body).responses.stream(**ASKED) as stream:
        stream.until_done()
    assert (caught.value.code, caught.value.type) == ("too_many", "rate_limit")


def test_an_upstream_s_own_error_in_the_stream_is_one_here() -> None:
    body = wire(teller(), [chunk(content="x"), {"error": {"message": "engine dead", "code": 500}}])
    with pytest.raises(openai.APIError, match="engine dead"), gpt(body).responses.stream(**ASKED) as stream:
        stream.until_done()
    with pytest.raises(UpstreamFault, match="engine dead"):
        teller().whole({"error": {"message": "engine dead"}})


def test_why_a_rule_ended_it_is_told_if_the_gateway_says_it() -> None:
    last = chunk("content_filter")
    last["choices"][0]["retrace"] = {"reason": "R101"}
    ended = parsed(wire(teller(), [chunk(content="x"), last]))[-1]
    assert ended[0] == "response.incomplete"
    assert ended[1]["response"]["retrace"] == {"reason": "R101"}
