"""Requests to `/v1/responses` as chat requests."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.errors import BadRequest
from gateway.surfaces._responses_in import chat

HI = {"role": "user", "content": "hi"}
PIXEL = {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "low"}
SEEN = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}}
TOOL = {"type": "function", "name": "f", "description": "天气", "parameters": {"type": "object"}, "strict": True}
OTHER = {"type": "function", "name": "g", "parameters": None}


def asked(**body: Any) -> dict[str, Any]:
    return chat({"model": "m", "input": "hi", **body})


def talk(*items: Any) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = asked(input=list(items))["messages"]
    return messages


def called(mark: str, name: str = "f") -> dict[str, Any]:
    return {
        "type": "function_call",
        "id": "fc",
        "call_id": mark,
        "name": name,
        "arguments": "{}",
        "status": "completed",
    }


def sent_call(mark: str, name: str = "f") -> dict[str, Any]:
    return {"id": mark, "type": "function", "function": {"name": name, "arguments": "{}"}}


def result(mark: str, output: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": mark, "output": output}


def answer(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"type": "message", "id": "msg", "role": "assistant", "status": "completed", "content": [part]}


def thought(text: str) -> dict[str, Any]:
    return {"type": "reasoning", "id": "rs", "summary": [], "content": [{"type": "reasoning_text", "text": text}]}


def test_the_simplest_request() -> None:
    assert asked() == {"model": "m", "messages": [HI]}


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"stream": True}, {"stream": True}),
        ({"max_output_tokens": 9}, {"max_tokens": 9}),
        ({"temperature": 0, "top_p": 0.5, "seed": 1}, {"temperature": 0, "top_p": 0.5, "seed": 1}),
        ({"parallel_tool_calls": False}, {"parallel_tool_calls": False}),
        ({"user": "u", "prompt_cache_key": "k"}, {"user": "u", "prompt_cache_key": "k"}),
        ({"reasoning": {"effort": "low", "summary": "auto"}}, {"reasoning_effort": "low"}),
        ({"text": {"verbosity": "low", "format": {"type": "text"}}}, {"verbosity": "low"}),
        ({"text": {"format": {"type": "json_object"}}}, {"response_format": {"type": "json_object"}}),
        (
            {"text": {"format": {"type": "json_schema", "name": "a", "schema": {"type": "object"}, "strict": True}}},
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "a", "schema": {"type": "object"}, "strict": True},
                }
            },
        ),
        ({"include": ["message.output_text.logprobs"], "top_logprobs": 2}, {"logprobs": True, "top_logprobs": 2}),
        ({"include": ["reasoning.encrypted_content"], "top_logprobs": 2}, {}),
        ({"tool_choice": "none"}, {"tool_choice": "none"}),
        (
            {"tool_choice": {"type": "function", "name": "f"}},
            {"tool_choice": {"type": "function", "function": {"name": "f"}}},
        ),
        ({"store": False, "background": False, "metadata": {"a": "b"}, "truncation": "disabled"}, {}),
        ({"previous_response_id": None, "stream_options": {"include_obfuscation": False}}, {}),
        ({"instructions": "be good"}, {"messages": [{"role": "system", "content": "be good"}, HI]}),
    ],
)
def test_settings_are_translated(given: dict[str, Any], sent: dict[str, Any]) -> None:
    assert asked(**given) == {"model": "m", "messages": [HI], **sent}


def test_tools_are_functions() -> None:
    function = {"name": "f", "parameters": {"type": "object"}, "description": "天气", "strict": True}
    assert asked(tools=[TOOL, OTHER])["tools"] == [
        {"type": "function", "function": function},
        {"type": "function", "function": {"name": "g", "parameters": {}}},
    ]


def test_only_tools_that_are_allowed_are_offered() -> None:
    allowed = {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "g"}]}
    sent = asked(tools=[TOOL, OTHER], tool_choice=allowed)
    assert [tool["function"]["name"] for tool in sent["tools"]] == ["g"]
    assert sent["tool_choice"] == "required"


def test_all_that_is_said_before_the_user_speaks_is_one_text() -> None:
    developer = {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "b"}]}
    sent = asked(instructions="a", input=[developer, HI, {"role": "system", "content": "c"}])["messages"]
    assert sent == [{"role": "system", "content": "a\n\nb"}, HI, {"role": "system", "content": "c"}]


def test_texts_are_one_text_and_pictures_stay_parts() -> None:
    text = {"type": "input_text", "text": "看"}
    assert talk({"role": "user", "content": [text, text]}) == [{"role": "user", "content": "看\n看"}]
    sound = {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}
    (sent,) = talk({"role": "user", "content": [text, PIXEL, sound]})
    assert sent["content"] == [{"type": "text", "text": "看"}, SEEN, sound]


def test_a_turn_of_the_model_is_one_message_and_its_results_follow() -> None:
    items = [
        HI,
        thought("想"),
        answer("let me see"),
        called("c1"),
        called("c2", "g"),
        result("c1", "晴"),
        result("c2", ""),
    ]
    assert talk(*items) == [
        HI,
        {
            "role": "assistant",
            "content": "let me see",
            "reasoning": "想",
            "tool_calls": [sent_call("c1"), sent_call("c2", "g")],
        },
        {"role": "tool", "content": "晴", "tool_call_id": "c1"},
        {"role": "tool", "content": "", "tool_call_id": "c2"},
    ]


def test_turns_that_follow_each_other_stay_apart() -> None:
    assert talk(HI, answer("a"), answer("b")) == [
        HI,
        {"role": "assistant", "content": "a"},
        {"role": "assistant", "content": "b"},
    ]
    assert talk(HI, called("c1"), result("c1", "x"), called("c2")) == [
        HI,
        {"role": "assistant", "content": None, "tool_calls": [sent_call("c1")]},
        {"role": "tool", "content": "x", "tool_call_id": "c1"},
        {"role": "assistant", "content": None, "tool_calls": [sent_call("c2")]},
    ]


def test_thinking_anew_begins_a_turn() -> None:
    assert talk(HI, called("c1"), thought("hm"), called("c2"))[1:] == [
        {"role": "assistant", "content": None, "tool_calls": [sent_call("c1")]},
        {"role": "assistant", "content": None, "reasoning": "hm", "tool_calls": [sent_call("c2")]},
    ]


def test_thoughts_that_nothing_was_said_after_are_not_lost() -> None:
    mused = {"role": "assistant", "content": "", "reasoning": "hm"}
    assert talk(HI, thought("hm"), HI) == [HI, mused, HI]
    assert talk(HI, thought("hm")) == [HI, mused]
    short = {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "hm"}]}
    assert talk(HI, short) == [HI, mused]
    assert talk(HI, {"type": "reasoning", "id": "rs", "summary": []}) == [HI]


def test_pictures_of_results_are_shown_behind_all_of_them() -> None:
    seen = result("c1", [{"type": "input_text", "text": "a"}, PIXEL])
    assert talk(HI, called("c1"), called("c2"), seen, result("c2", "b"), HI)[2:] == [
        {"role": "tool", "content": "a", "tool_call_id": "c1"},
        {"role": "tool", "content": "b", "tool_call_id": "c2"},
        {"role": "user", "content": [SEEN]},
        HI,
    ]


def test_what_was_refused_before_is_said_again() -> None:
    item = {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]}
    assert talk(HI, item)[1] == {"role": "assistant", "content": "no"}


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"conversation": {"id": "c"}}, "conversation"),
        ({"store": True}, "store"),
        ({"background": True}, "background"),
        ({"prompt": {"id": "p"}}, "prompt"),
        ({"moderation": {"model": "x"}}, "moderation"),
        ({"n": 2}, "n"),
        ({"messages": []}, "messages"),
        ({"truncation": "auto"}, "truncation"),
        ({"include": ["everything"]}, "include"),
        ({"instructions": [HI]}, "instructions"),
        ({"input": None}, "input"),
        ({"input": ["hi"]}, "input[0]"),
        ({"input": [{"role": "system", "content": "x"}]}, "input"),
        ({"input": [{"type": "item_reference", "id": "x"}]}, "input[0]"),
        ({"input": [{"type": "web_search_call", "id": "x"}]}, "input[0]"),
        ({"input": [{"type": "custom_tool_call", "call_id": "x"}]}, "input[0]"),
        ({"input": [{"id": "x"}]}, "input[0]"),
        ({"input": [{"role": "robot", "content": "x"}]}, "input[0].role"),
        ({"input": [{"role": "user", "content": 3}]}, "input[0].content"),
        ({"input": [{"role": "user", "content": "x", "name": "y"}]}, "input[0].name"),
        ({"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}]}, "input[0].content[0]"),
        (
            {"input": [{"role": "user", "content": [{"type": "input_image", "file_id": "f"}]}]},
            "input[0].content[0].file_id",
        ),
        ({"input": [{"role": "user", "content": [{"type": "input_image"}]}]}, "input[0].content[0].image_url"),
        ({"input": [{"type": "reasoning", "summary": [], "encrypted_content": "x"}]}, "input[0]"),
        ({"input": [{**called("c"), "arguments": {}}]}, "input[0].arguments"),
        ({"input": [{**called("c"), "call_id": None}]}, "input[0].call_id"),
        ({"tools": [{"type": "web_search"}]}, "tools[0]"),
        ({"tools": [{"type": "mcp", "server_label": "x"}]}, "tools[0]"),
        ({"tools": [{"type": "custom", "name": "x"}]}, "tools[0]"),
        ({"tools": [{**TOOL, "defer_loading": True}]}, "tools[0].defer_loading"),
        ({"tool_choice": "always"}, "tool_choice"),
        ({"tool_choice": {"type": "file_search"}}, "tool_choice"),
        ({"tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "mcp"}]}}, "tool_choice.tools"),
        ({"text": {"format": {"type": "grammar"}}}, "text.format"),
        ({"text": {"tone": "x"}}, "text.tone"),
        ({"reasoning": {"mode": "pro"}}, "reasoning.mode"),
    ],
)
def test_what_has_no_counterpart_is_named(body: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as caught:
        asked(**body)
    assert caught.value.param == param


def test_who_relies_on_what_is_kept_is_told_what_to_do() -> None:
    with pytest.raises(BadRequest, match="send the whole conversation as `input`"):
        asked(previous_response_id="resp_1")
