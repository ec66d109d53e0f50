"""Requests to `/v1/messages` as chat requests."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.errors import BadRequest
from gateway.surfaces._messages_in import chat

HI = [{"role": "user", "content": "hi"}]
PIXEL = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
SEEN = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def asked(**body: Any) -> dict[str, Any]:
    return chat({"model": "m", "max_tokens": 9, "messages": HI, **body})


def turns(*turns: dict[str, Any]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = asked(messages=list(turns))["messages"]
    return messages


def user(*blocks: Any) -> list[dict[str, Any]]:
    return turns({"role": "user", "content": list(blocks)})


def test_the_simplest_request() -> None:
    assert asked() == {"model": "m", "max_tokens": 9, "messages": HI}


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"stream": True}, {"stream": True}),
        ({"temperature": 0, "top_p": 0.5, "top_k": 3}, {"temperature": 0, "top_p": 0.5, "top_k": 3}),
        ({"stop_sequences": ["停"]}, {"stop": ["停"]}),
        ({"metadata": {"user_id": "u1"}}, {"user": "u1"}),
        ({"output_config": {"effort": "low"}}, {"reasoning_effort": "low"}),
        ({"thinking": {"type": "enabled", "budget_tokens": 2000}}, {"chat_template_kwargs": {"enable_thinking": True}}),
        ({"thinking": {"type": "disabled"}}, {"chat_template_kwargs": {"enable_thinking": False}}),
        ({"thinking": {"type": "adaptive"}}, {}),
        (
            {"thinking": {"type": "enabled"}, "chat_template_kwargs": {"enable_thinking": False, "x": 1}},
            {"chat_template_kwargs": {"enable_thinking": False, "x": 1}},
        ),
        ({"tool_choice": {"type": "auto"}}, {"tool_choice": "auto"}),
        ({"tool_choice": {"type": "none"}}, {"tool_choice": "none"}),
        (
            {"tool_choice": {"type": "any", "disable_parallel_tool_use": True}},
            {"tool_choice": "required", "parallel_tool_calls": False},
        ),
        (
            {"tool_choice": {"type": "tool", "name": "f"}},
            {"tool_choice": {"type": "function", "function": {"name": "f"}}},
        ),
        ({"service_tier": "auto", "betas": ["x"], "cache_control": {"type": "ephemeral"}}, {}),
        ({"system": "be good"}, {"messages": [{"role": "system", "content": "be good"}, *HI]}),
        ({"system": ""}, {}),
    ],
)
def test_settings_are_translated(given: dict[str, Any], sent: dict[str, Any]) -> None:
    assert asked(**given) == {"model": "m", "max_tokens": 9, "messages": HI, **sent}


@pytest.mark.parametrize("name", ["output_config", "output_format"])
def test_a_schema_of_the_answer_is_one_for_chat(name: str) -> None:
    form = {"type": "json_schema", "schema": {"type": "object"}}
    sent = asked(**{name: {"format": form} if name == "output_config" else form})
    assert sent["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": {"type": "object"}, "strict": True},
    }


def test_tools_are_functions() -> None:
    tool = {"name": "f", "description": "天气", "input_schema": {"type": "object"}, "cache_control": {}}
    (sent,) = asked(tools=[{**tool, "type": "custom", "strict": True}])["tools"]
    function = {"name": "f", "description": "天气", "strict": True, "parameters": {"type": "object"}}
    assert sent == {"type": "function", "function": function}


def test_all_that_the_system_says_first_is_one_text() -> None:
    system = [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}, {"type": "text", "text": "b"}]
    sent = asked(system=system, messages=[{"role": "system", "content": "c"}, *HI])["messages"]
    assert sent == [{"role": "system", "content": "a\nb\n\nc"}, *HI]


def test_text_blocks_are_one_text_and_pictures_stay_parts() -> None:
    text = {"type": "text", "text": "看", "citations": None}
    assert user(text, text) == [{"role": "user", "content": "看\n看"}]
    assert user(text, PIXEL) == [{"role": "user", "content": [{"type": "text", "text": "看"}, SEEN]}]
    (seen,) = user({"type": "image", "source": {"type": "url", "url": "http://x/a.png"}})
    assert seen["content"][0]["image_url"] == {"url": "http://x/a.png"}


def test_documents_and_search_results_are_their_text() -> None:
    plain = {"type": "document", "title": "报告", "context": "c", "source": {"type": "text", "data": "d"}}
    nested = {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "e"}]}}
    short = {"type": "document", "source": {"type": "content", "content": "f"}}
    hit = {"type": "search_result", "title": "t", "source": "s", "content": [{"type": "text", "text": "g"}]}
    assert user(plain, nested, short, hit) == [{"role": "user", "content": "报告\nc\nd\ne\nf\nt\ns\ng"}]


def test_a_call_and_its_result_come_back_as_they_were() -> None:
    call = {"type": "tool_use", "id": "c1", "name": "f", "input": {"city": "上海"}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": "晴"}
    assert turns(
        {"role": "assistant", "content": [{"type": "text", "text": "let me see"}, call]},
        {"role": "user", "content": [result, {"type": "text", "text": "so?"}]},
    ) == [
        {
            "role": "assistant",
            "content": "let me see",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"city":"上海"}'}}],
        },
        {"role": "tool", "content": "晴", "tool_call_id": "c1"},
        {"role": "user", "content": "so?"},
    ]


def test_results_come_first_and_their_pictures_are_shown_behind_them() -> None:
    results = [
        {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "a"}, PIXEL]},
        {"type": "tool_result", "tool_use_id": "c2", "is_error": True, "content": "gone"},
        {"type": "tool_result", "tool_use_id": "c3"},
    ]
    sent = user({"type": "text", "text": "look"}, *results)
    assert sent == [
        {"role": "tool", "content": "a", "tool_call_id": "c1"},
        {"role": "tool", "content": "Error:\ngone", "tool_call_id": "c2"},
        {"role": "tool", "content": "", "tool_call_id": "c3"},
        {"role": "user", "content": [{"type": "text", "text": "look"}, SEEN]},
    ]


def test_calls_alone_have_no_text_and_masked_ones_stay_json() -> None:
    call = {"type": "tool_use", "id": "c1", "name": "f", "input": '{"a":"***"}'}
    first, _ = turns({"role": "assistant", "content": [call]}, *HI)
    assert first["content"] is None
    assert first["tool_calls"][0]["function"]["arguments"] == '{"a":"***"}'


def test_thoughts_of_earlier_turns_go_with_them() -> None:
    thought = {"type": "thinking", "thinking": "想", "signature": "s"}
    first, _ = turns({"role": "assistant", "content": [thought, {"type": "text", "text": "好"}]}, *HI)
    assert first == {"role": "assistant", "content": "好", "reasoning": "想"}


def test_an_answer_that_the_client_began_is_gone_on_with() -> None:
    sent = asked(messages=[*HI, {"role": "assistant", "content": "从前"}])
    assert sent["messages"][-1] == {"role": "assistant", "content": "从前"}
    assert (sent["continue_final_message"], sent["add_generation_prompt"]) == (True, False)


BLOCK = "messages[0].content[0]"
CALL = {"type": "tool_use", "id": "c", "name": "f", "input": {}}


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"max_tokens": None}, "max_tokens"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": True}, "max_tokens"),
        ({"messages": "hi"}, "messages"),
        ({"messages": [{"role": "user", "content": []}]}, "messages"),
        ({"messages": ["hi"]}, "messages[0]"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "messages[0].role"),
        ({"messages": [{"role": "user"}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": "x", "name": "y"}]}, "messages[0].name"),
        ({"n": 2}, "n"),
        ({"mcp_servers": [{"url": "x"}]}, "mcp_servers"),
        ({"container": "c"}, "container"),
        ({"brand_new": {"x": 1}}, "brand_new"),
        ({"system": [{"type": "image"}]}, "system[0]"),
        ({"metadata": "u"}, "metadata"),
        ({"tools": [{"type": "web_search_20250305", "name": "web_search"}]}, "tools[0]"),
        ({"tools": [{"type": "bash_20250124", "name": "bash"}]}, "tools[0]"),
        ({"tools": [{"name": "f", "input_schema": {}, "defer_loading": True}]}, "tools[0].defer_loading"),
        ({"tools": [{"name": "f", "allowed_callers": ["code_execution_20250825"]}]}, "tools[0].allowed_callers"),
        ({"tools": [{"input_schema": {}}]}, "tools[0].name"),
        ({"tool_choice": {"type": "maybe"}}, "tool_choice"),
        ({"tool_choice": {"type": "tool"}}, "tool_choice.name"),
        ({"thinking": {"type": "deep"}}, "thinking"),
        ({"output_config": {"format": {"type": "xml"}}}, "output_config.format"),
        ({"output_config": {"tone": "x"}}, "output_config.tone"),
    ],
)
def test_what_has_no_counterpart_is_named(body: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as caught:
        asked(**body)
    assert caught.value.param == param


@pytest.mark.parametrize(
    ("block", "param"),
    [
        ("hi", BLOCK),
        ({"type": "video"}, BLOCK),
        ({"text": "x"}, BLOCK),
        (CALL, BLOCK),
        ({"type": "container_upload", "file_id": "f"}, BLOCK),
        ({"type": "text", "text": 3}, f"{BLOCK}.text"),
        ({"type": "text", "text": "x", "extra": 1}, f"{BLOCK}.extra"),
        ({"type": "image", "source": {"type": "file", "file_id": "f"}}, f"{BLOCK}.source"),
        ({"type": "document", "source": {"type": "base64", "data": "x"}}, f"{BLOCK}.source"),
        ({"type": "document", "source": {"type": "url", "url": "x"}}, f"{BLOCK}.source"),
        (
            {"type": "document", "source": {"type": "text", "data": "x"}, "citations": {"enabled": True}},
            f"{BLOCK}.citations",
        ),
        ({"type": "tool_result", "content": "x"}, f"{BLOCK}.tool_use_id"),
        ({"type": "tool_result", "tool_use_id": "c", "content": [{"type": "tool_reference"}]}, f"{BLOCK}.content[0]"),
    ],
)
def test_a_block_that_has_no_counterpart_is_named(block: Any, param: str) -> None:
    with pytest.raises(BadRequest) as caught:
        user(block)
    assert caught.value.param == param


@pytest.mark.parametrize(
    ("block", "param"),
    [
        ({"type": "redacted_thinking", "data": "x"}, BLOCK),
        ({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}, BLOCK),
        (PIXEL, BLOCK),
        ({**CALL, "input": [1]}, f"{BLOCK}.input"),
        ({**CALL, "id": None}, f"{BLOCK}.id"),
    ],
)
def test_a_block_of_the_model_that_has_no_counterpart_is_named(block: Any, param: str) -> None:
    with pytest.raises(BadRequest) as caught:
        turns({"role": "assistant", "content": [block]})
    assert caught.value.param == param
