"""What the OpenAI surfaces share."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.errors import Refused, Unavailable, UpstreamFault
from gateway.plug import plugs
from gateway.types import Action, Finding, Usage
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
