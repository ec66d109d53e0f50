"""What the OpenAI surfaces share."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.errors import Refused, Unavailable, UpstreamFault
from gateway.plug import plugs
from gateway.surfaces import Continuation
from gateway.types import Action, Finding, Piece, Usage
from tests.wires import exchange

CHAT = plugs("surfaces")["chat"]()
HALT = Finding("r", "R101", Action.BLOCK, 0, 1)


def chunk(**choice: Any) -> dict[str, Any]:
    return {
        "choices": [{"index": 0, "delta": {"role": "assistant", "content": "bad"}, "finish_reason": None, **choice}]
    }


def test_fields_that_only_the_gateway_may_set_do_not_go_upstream() -> None:
    sent = CHAT.upstream_body(
        exchange(), {"messages": [], "kv_transfer_params": {"x": 1}, "cache_salt": "s", "seed": 1}
    )
    assert sent == {"messages": [], "seed": 1, "stream_options": {"include_usage": True}}


def test_a_stream_is_asked_for_its_usage_and_keeps_its_other_options() -> None:
    sent = CHAT.upstream_body(exchange(), {"stream_options": {"include_usage": False, "more": 1}})
    assert sent["stream_options"] == {"include_usage": True, "more": 1}


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 4}, Usage(3, 4)),
        ({"prompt_tokens": 3}, Usage(3, 0)),
        ({"prompt_tokens": -1, "completion_tokens": "x"}, Usage(0, 0)),
        (None, None),
        ("many", None),
    ],
)
def test_usage_is_what_the_upstream_counted_if_that_is_a_count(told: Any, usage: Usage | None) -> None:
    assert CHAT.read({"choices": [], "usage": told}).usage == usage


@pytest.mark.parametrize(
    ("details", "cached"),
    [
        ({"cached_tokens": 64}, 64),
        ({"cached_tokens": 0}, 0),
        ({"cached_tokens": -1}, None),
        (None, None),
        ({}, None),
        ([], None),
    ],
)
def test_what_the_engine_had_of_the_prompt_is_known_if_it_says_so(details: Any, cached: int | None) -> None:
    told = {"prompt_tokens": 100, "completion_tokens": 1, "prompt_tokens_details": details}
    usage = CHAT.read({"choices": [], "usage": told}).usage
    assert usage is not None
    assert (usage.prompt, usage.cached) == (100, cached)


def test_an_event_of_usage_alone_is_nothing_without_it() -> None:
    assert CHAT.without_usage({"choices": [], "usage": {}}) is None
    assert CHAT.without_usage({"choices": [1], "usage": {}, "id": "x"}) == {"choices": [1], "id": "x"}


def test_an_upstream_s_own_error_is_known_as_one() -> None:
    assert CHAT.read({"error": {"message": "x"}}).failed
    assert not CHAT.read({"choices": []}).failed


@pytest.mark.parametrize(
    "data",
    [
        {"choices": 3},
        {"choices": [None]},
        {"choices": [{"index": "0"}]},
        {"choices": [{"index": True}]},
        {"choices": {"0": {}}},
    ],
)
def test_choices_that_are_none_are_a_fault(data: dict[str, Any]) -> None:
    with pytest.raises(UpstreamFault) as caught:
        CHAT.read(data)
    assert caught.value.kind == "garbage"


def test_other_words_are_put_where_the_old_ones_stood() -> None:
    data = chunk(
        delta={"role": "assistant", "content": "bad", "deep": [{"x": "bad"}], "more": "fine"}, logprobs={"a": 1}
    )
    assert CHAT.rewrite(data, {(0, "content"): "***", (0, "deep.0.x"): "+++"}, {})
    (choice,) = data["choices"]
    assert choice["delta"] == {"role": "assistant", "content": "***", "deep": [{"x": "+++"}], "more": "fine"}
    assert choice["logprobs"] is None
    assert choice["finish_reason"] is None


def test_a_choice_that_is_not_meant_is_not_touched() -> None:
    data = {
        "choices": [{"index": 0, "delta": {"content": "a"}, "logprobs": 1}, {"index": 1, "delta": {"content": "b"}}]
    }
    assert CHAT.rewrite(data, {(1, "content"): "***"}, {})
    assert data["choices"][0] == {"index": 0, "delta": {"content": "a"}, "logprobs": 1}


def test_a_halted_choice_ends_with_content_filter() -> None:
    data = chunk()
    assert CHAT.rewrite(data, {(0, "content"): ""}, {0: HALT})
    assert data["choices"][0]["finish_reason"] == "content_filter"
    assert "retrace" not in data["choices"][0]


def test_why_it_was_halted_is_told_if_asked() -> None:
    data = chunk()
    CHAT.rewrite(data, {}, {0: HALT}, True)
    assert data["choices"][0]["retrace"] == {"verdict": "block", "reason": "R101", "rule": "r"}


def test_a_choice_that_has_ended_is_taken_out_and_an_event_of_it_alone_with_it() -> None:
    assert not CHAT.rewrite(chunk(), {}, {0: None})
    data = {"choices": [{"index": 0, "delta": {}}, {"index": 1, "delta": {}}]}
    assert CHAT.rewrite(data, {}, {0: None})
    assert [choice["index"] for choice in data["choices"]] == [1]


def test_the_end_of_a_choice_that_goes_on_is_taken_back() -> None:
    ended = {"finish_reason": "stop", "stop_reason": 7, "delta": {"content": "x"}}
    data: dict[str, Any] = {"choices": [{"index": 0, **ended}, {"index": 1, **ended}]}
    CHAT.unended(data, {1})
    assert data["choices"][0] == {"index": 0, **ended}
    assert data["choices"][1] == {"index": 1, "finish_reason": None, "stop_reason": None, "delta": {"content": "x"}}


def test_an_event_that_never_was_of_a_choice_is_kept() -> None:
    assert CHAT.rewrite({"choices": [], "usage": {"prompt_tokens": 1}}, {}, {0: None})


def test_a_fault_has_the_shape_that_sdks_read() -> None:
    assert CHAT.error(Unavailable("all down")) == {
        "error": {"message": "all down", "type": "api_error", "param": None, "code": "no_healthy_backend"}
    }
    told = CHAT.error(Refused("no", status=400, reason="R101", rule="r", param="messages.0"))["error"]
    assert told["retrace"] == {"reason": "R101", "rule": "r"}
    assert told["param"] == "messages.0"


# An answer that was cut back and goes on.

ASKED: dict[str, Any] = {
    "model": "m",
    "messages": [{"role": "user", "content": "hi"}],
    "n": 3,
    "max_tokens": 50,
    "temperature": 0.5,
    "stream_options": {"include_usage": True, "continuous_usage_stats": True},
}
HEAD = {"id": "c1", "object": "chat.completion.chunk", "created": 3, "model": "m", "system_fingerprint": "f", "more": 1}


def resumed(**fields: Any) -> dict[str, Any]:
    """The body that goes on with the answer to such a request."""
    asked = {name: value for name, value in {**ASKED, **fields}.items() if value is not None}
    body: dict[str, Any] = CHAT.resume(asked, Continuation("so far", tokens=8)).body
    return body


def test_a_continuation_asks_for_one_choice_streamed_with_its_usage() -> None:
    body = resumed(best_of=2, echo=True, seed=3)
    assert not {"n", "best_of", "echo"} & body.keys()
    assert (body["stream"], body["stream_options"]) == (True, {"include_usage": True})
    assert (body["temperature"], body["seed"]) == (0.5, 3)


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        ({"max_tokens": 50}, {"max_tokens": 42}),
        ({"max_tokens": 8, "max_completion_tokens": 3}, {"max_tokens": 1, "max_completion_tokens": 1}),
        ({"max_tokens": None, "min_tokens": 9}, {"min_tokens": 1}),
        ({"max_tokens": None, "min_tokens": 2}, {"min_tokens": 0}),
        ({"max_tokens": None}, {}),
    ],
)
def test_it_has_the_tokens_that_are_left(asked: dict[str, Any], left: dict[str, int]) -> None:
    told = {name: value for name, value in resumed(**asked).items() if name.endswith("tokens")}
    assert told == left


@pytest.mark.parametrize(
    "shape",
    [
        {"response_format": {"type": "json_object"}},
        {"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}},
        {"guided_json": {"type": "object"}},
        {"structured_outputs": {"regex": "a+"}},
    ],
)
def test_a_shape_that_begins_with_the_answer_is_asked_for_only_if_that_begins_anew(shape: dict[str, Any]) -> None:
    """Engines force it on what they generate; in the middle of JSON they would begin another one."""
    assert not shape.keys() & resumed(**shape).keys()
    assert CHAT.resume({**ASKED, **shape}, Continuation("")).body.items() >= shape.items()
    assert not CHAT.free(shape)


def test_words_are_banned_beside_those_that_the_client_has_banned() -> None:
    more = Continuation("so far", ban=["稳赚", "never"])
    assert CHAT.resume({**ASKED, "bad_words": ["never"]}, more).body["bad_words"] == ["never", "稳赚"]
    assert CHAT.resume(ASKED, more).body["bad_words"] == ["稳赚", "never"]
    assert "bad_words" not in resumed()
    assert resumed(bad_words=["never"])["bad_words"] == ["never"]


def test_an_event_of_a_later_call_is_told_as_one_of_the_first() -> None:
    data = {**chunk(logprobs={"content": []}), "id": "c2", "created": 9, "object": "chat.completion.chunk"}
    CHAT.resumed(data, HEAD, 2)
    assert {name: data[name] for name in HEAD if name != "more"} == {k: v for k, v in HEAD.items() if k != "more"}
    assert "more" not in data
    (choice,) = data["choices"]
    assert (choice["index"], choice["delta"], choice["logprobs"]) == (2, {"content": "bad"}, {"content": []})


def test_what_the_rule_says_itself_is_an_event_like_the_first() -> None:
    data = CHAT.spoken(HEAD, 1, "那么")
    assert "more" not in data
    assert data["choices"] == [{"index": 1, "delta": {"content": "那么"}, "logprobs": None, "finish_reason": None}]
    assert CHAT.read(data).pieces == [Piece(1, "content", "那么")]


def test_the_usage_of_all_calls_stands_in_the_place_of_one_s() -> None:
    details = {"cached_tokens": 9, "audio_tokens": 0}
    data = {"usage": {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": details}}
    CHAT.reckoned(data, Usage(7, 6), 2, 3)
    assert data["usage"] == {
        "prompt_tokens": 7,
        "completion_tokens": 6,
        "total_tokens": 13,
        "prompt_tokens_details": {"cached_tokens": 7, "audio_tokens": 0},
        "retrace": {"attempts": 2, "wasted_tokens": 3},
    }


def test_an_end_can_be_taken_back_of_some_choices() -> None:
    ended = {"delta": {}, "finish_reason": "stop", "stop_reason": 3, "logprobs": {"content": []}}
    data = {"choices": [{"index": n, **ended} for n in range(2)]}
    CHAT.unended(data, {1})
    assert data["choices"][0] == {"index": 0, **ended}
    assert (data["choices"][1]["finish_reason"], data["choices"][1]["stop_reason"]) == (None, None)


def test_who_speaks_is_said_once() -> None:
    assert CHAT.opens(chunk())
    assert not CHAT.opens(chunk(delta={"content": "x"}))
    assert not CHAT.opens({"choices": [{"index": 0, "text": "x"}]})
    assert not CHAT.opens({"choices": []})
