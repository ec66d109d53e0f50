"""`/v1/chat/completions`."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gateway.errors import BadRequest
from gateway.plug import plugs
from gateway.surfaces import Continuation
from gateway.types import Piece, Text
from tests.wires import exchange

CHAT = plugs("surfaces")["chat"]()
HI = [{"role": "user", "content": "hi"}]


def texts(**body: Any) -> list[tuple[str, str]]:
    return [(text.role, text.text) for text in CHAT.admit({"messages": HI, **body}).texts]


def pieces(**holder: Any) -> list[Piece]:
    return list(CHAT.read({"choices": [{"index": 0, "message": holder}]}).pieces)


def test_each_message_s_texts_are_found_with_who_speaks_and_where() -> None:
    asked = CHAT.admit({"model": "m", "messages": [{"role": "system", "content": "be good"}, *HI]})
    assert asked.model == "m"
    assert asked.texts == (
        Text(("messages", 0, "content"), "system", "be good"),
        Text(("messages", 1, "content"), "user", "hi"),
    )


def test_parts_are_texts_of_their_own_and_one_together() -> None:
    parts = [
        {"type": "text", "text": "a"},
        {"type": "image_url", "image_url": {"url": "http://x"}},
        {"type": "text", "text": "b"},
    ]
    (one, two, whole) = CHAT.admit({"messages": [{"role": "user", "content": parts}]}).texts
    assert (one.text, two.text, whole.text) == ("a", "b", "a\nb")
    assert (one.whole, two.whole, whole.whole) == (True, True, False)
    assert two.path == ("messages", 0, "content", 2, "text")


def test_a_message_without_a_role_is_the_user_s() -> None:
    assert CHAT.admit({"messages": [{"content": "hi"}]}).texts[0].role == "user"


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        ("tools", [{"type": "function", "function": {"name": "f", "description": "of tools"}}], "of tools"),
        ("functions", [{"name": "f", "description": "old"}], "old"),
        ("documents", [{"text": "a paper"}], "a paper"),
        ("prediction", {"type": "content", "content": "likely"}, "likely"),
        ("chat_template", "{{ bad }}", "{{ bad }}"),
        ("chat_template_kwargs", {"note": "deep"}, "deep"),
    ],
)
def test_texts_beside_the_messages_are_found(field: str, value: Any, text: str) -> None:
    assert ("request", text) in texts(**{field: value})


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": {"role": "user"}}, "messages"),
        ({"messages": ["hi"]}, "messages[0]"),
        ({"messages": [*HI, {"role": 3}]}, "role"),
        ({"messages": [{"role": "user", "content": 3}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": {"a": "b"}}]}, "messages[0].content"),
        ({"messages": HI, "model": 3}, "model"),
        ({"messages": HI, "stream": "yes"}, "stream"),
        ({"messages": HI, "stream": 1}, "stream"),
        ({"messages": HI, "n": 0}, "n"),
        ({"messages": HI, "n": 129}, "n"),
        ({"messages": HI, "n": True}, "n"),
        ({"messages": HI, "n": 1.5}, "n"),
        ({"messages": HI, "stream_options": []}, "stream_options"),
        ({"messages": HI, "stream_options": {"include_usage": "x"}}, "include_usage"),
        ({"messages": [{"role": "r" * 1000, "content": "hi"}]}, "messages[0].role"),
    ],
)
def test_a_field_that_is_wrong_is_named(body: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as caught:
        CHAT.admit(body)
    assert caught.value.param == param


def test_null_means_absent() -> None:
    asked = CHAT.admit({"messages": HI, "model": None, "stream": None, "n": None, "stream_options": None})
    assert (asked.model, asked.stream, asked.choices, asked.wants_usage) == ("", False, 1, False)


def test_every_text_of_an_answer_is_found_whatever_its_field_is_called() -> None:
    found = pieces(
        role="assistant",
        content="a",
        reasoning_content="b",
        refusal="c",
        unheard_of="d",
        deep=[{"x": {"y": "e"}}],
        audio={"id": "no", "data": "no", "transcript": "f"},
        content_parts=None,
        flag=True,
    )
    assert [(piece.channel, piece.text) for piece in found] == [
        ("content", "a"),
        ("reasoning_content", "b"),
        ("refusal", "c"),
        ("unheard_of", "d"),
        ("deep.0.x.y", "e"),
        ("audio.transcript", "f"),
    ]


def test_a_streamed_call_says_itself_which_one_it_is() -> None:
    call = {"index": 3, "id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    delta = {"choices": [{"index": 1, "delta": {"tool_calls": [call]}}]}
    assert list(CHAT.read(delta).pieces) == [
        Piece(1, "tool_calls.3.function.name", "f"),
        Piece(1, "tool_calls.3.function.arguments", "{}"),
    ]


def test_an_answer_in_the_model_s_stead_is_a_whole_one() -> None:
    (body,) = CHAT.canned(exchange(choices=2).__class__("rt-1", "chat", "m", exchange().principal, (), choices=2), "no")
    assert [choice["message"]["content"] for choice in body["choices"]] == ["no", "no"]
    assert {choice["finish_reason"] for choice in body["choices"]} == {"content_filter"}
    assert body["object"] == "chat.completion"


def test_a_streamed_answer_in_the_model_s_stead_says_it_and_ends() -> None:
    events = CHAT.canned(exchange(), "no")
    assert [event["choices"][0]["delta"].get("content") for event in events] == ["no", None]
    assert [event["choices"][0]["finish_reason"] for event in events] == [None, "content_filter"]


# How an answer goes on.

ASKED = {"role": "user", "content": "hi"}
SYSTEM = {"role": "system", "content": "Be short."}


def going_on(messages: list[Any], kept: str, tell: str = "", instruct: bool = False, **fields: Any) -> dict[str, Any]:
    asking = CHAT.resume({"messages": messages, **fields}, Continuation(kept, instruct=instruct, tell=tell))
    assert asking.path == "/v1/chat/completions"
    body: dict[str, Any] = asking.body
    return body


def test_what_stands_is_the_begin_of_the_next_message() -> None:
    body = going_on([SYSTEM, ASKED], "So far")
    assert body["messages"] == [SYSTEM, ASKED, {"role": "assistant", "content": "So far"}]
    assert (body["continue_final_message"], body["add_generation_prompt"]) == (True, False)


def test_where_nothing_stands_the_question_is_asked_again() -> None:
    for instruct in (False, True):
        body = going_on([ASKED], "", instruct=instruct)
        assert body["messages"] == [ASKED]
        assert "continue_final_message" not in body
        assert "add_generation_prompt" not in body


def test_what_the_client_had_begun_stands_too() -> None:
    begun = [ASKED, {"role": "assistant", "content": "I "}]
    for kept, whole in (("say", "I say"), ("", "I ")):
        body = going_on(begun, kept, continue_final_message=True, add_generation_prompt=False)
        assert body["messages"] == [ASKED, {"role": "assistant", "content": whole}]
        assert body["continue_final_message"] is True
    assert begun[-1]["content"] == "I "


def test_who_can_not_continue_is_told_to_in_both_languages() -> None:
    begun = [ASKED, {"role": "assistant", "content": "I "}]
    body = going_on(begun, "say", "No promises.", instruct=True, continue_final_message=True)
    *before, said, told = body["messages"]
    assert (before, said) == ([ASKED], {"role": "assistant", "content": "I say"})
    assert told["role"] == "user"
    assert told["content"].endswith("No promises.")
    assert all(word in told["content"] for word in ("exactly where it ends", "直接接着写"))
    assert "continue_final_message" not in body


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("hi", "hi\n\n不要承诺。"),
        (None, "\n\n不要承诺。"),
        ([{"type": "text", "text": "hi"}], [{"type": "text", "text": "hi"}, {"type": "text", "text": "不要承诺。"}]),
    ],
)
@pytest.mark.parametrize("kept", ["So", ""])
def test_an_instruction_stands_behind_the_last_question(content: Any, told: Any, kept: str) -> None:
    messages = [SYSTEM, {"role": "user", "content": "first"}, {"role": "assistant", "content": "x"}]
    messages += [{"role": "user", "content": content, "name": "a"}, {"role": "tool", "content": "y"}]
    before = json.dumps(messages)
    body = going_on(messages, kept, "不要承诺。")
    assert body["messages"][3] == {"role": "user", "content": told, "name": "a"}
    assert [body["messages"][n] for n in (0, 1, 2, 4)] == [messages[n] for n in (0, 1, 2, 4)]
    assert json.dumps(messages) == before


def test_where_nobody_asks_there_is_no_place_for_an_instruction() -> None:
    assert going_on([SYSTEM], "So", "No promises.")["messages"] == [SYSTEM, {"role": "assistant", "content": "So"}]


def test_tools_are_still_there_for_what_goes_on() -> None:
    body = going_on([ASKED], "So", tools=[{"type": "function"}], tool_choice="auto")
    assert (body["tools"], body["tool_choice"]) == ([{"type": "function"}], "auto")
