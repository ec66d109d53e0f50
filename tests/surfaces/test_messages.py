"""`/v1/messages`: what is judged of a request, and how faults are told."""

from __future__ import annotations

from typing import Any

import anthropic
import httpx2
import orjson
import pytest

from gateway import leaves
from gateway.errors import BadRequest, Refused
from gateway.surfaces.messages import Plug
from tests.surfaces.clients import chunk, exchange, parsed, wire

MESSAGES = Plug()
HI = [{"role": "user", "content": "hi"}]


def texts(**body: Any) -> list[tuple[str, str]]:
    return [(text.role, text.text) for text in MESSAGES.admit({"messages": HI, **body}).texts]


def block(*blocks: Any, role: str = "user") -> list[tuple[str, str]]:
    return texts(messages=[{"role": role, "content": list(blocks)}])


def test_what_the_road_must_know_of_a_request() -> None:
    asked = MESSAGES.admit({"model": "m", "messages": HI, "stream": True, "metadata": {"user_id": "s1"}})
    assert (asked.model, asked.stream, asked.choices, asked.wants_usage, asked.session) == ("m", True, 1, True, "s1")


def test_who_speaks_is_told_with_each_text() -> None:
    said = [*HI, {"role": "assistant", "content": "好"}, {"role": "system", "content": "be brief"}]
    assert texts(system="be good", messages=said) == [
        ("system", "be good"),
        ("user", "hi"),
        ("assistant", "好"),
        ("system", "be brief"),
    ]


def test_texts_in_a_row_are_judged_together_as_well() -> None:
    two = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert texts(system=two)[:3] == [("system", "a"), ("system", "b"), ("system", "a\nb")]
    assert block(*two) == [("user", "a"), ("user", "b"), ("user", "a\nb")]


def test_results_of_tools_are_the_tools_words() -> None:
    result = {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "晴"}]}
    assert block(result) == [("tool", "晴")]
    assert block({**result, "content": "晴"}) == [("tool", "晴")]


def test_a_call_is_judged_as_the_json_that_it_becomes() -> None:
    call = {"type": "tool_use", "id": "c1", "name": "f", "input": {"a key": "上海", "n": 3}}
    assert block(call, role="assistant") == [("assistant", "f"), ("assistant", '{"a key":"上海","n":3}')]


@pytest.mark.parametrize("nested", [False, True])
def test_the_text_of_documents_is_found(nested: bool) -> None:
    plain = {"type": "document", "title": "t", "source": {"type": "text", "media_type": "text/plain", "data": "d"}}
    inner = {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": "e"}]}}
    blocks: list[Any] = [plain, inner]
    found = block({"type": "tool_result", "tool_use_id": "c", "content": blocks} if nested else plain, *blocks[1:])
    assert {"t", "d", "e"} <= {text for _, text in found}
    assert ("tool" if nested else "user", "d") in found


def test_media_are_not_looked_into() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    assert block({"type": "image", "source": source}) == []


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"tools": [{"name": "f", "description": "of tools"}]}, "of tools"),
        ({"output_config": {"format": {"schema": {"description": "of answers"}}}}, "of answers"),
        ({"chat_template_kwargs": {"note": "deep"}}, "deep"),
    ],
)
def test_texts_beside_the_messages_are_found(body: dict[str, Any], text: str) -> None:
    assert ("request", text) in texts(**body)


def test_every_text_can_be_put_back_where_it_stands() -> None:
    body: dict[str, Any] = {
        "model": "m",
        "max_tokens": 9,
        "system": [{"type": "text", "text": "bad"}],
        "tools": [{"name": "f", "description": "bad", "input_schema": {"type": "object"}}],
        "messages": [
            {"role": "user", "content": "bad"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {"x": "bad"}}]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c", "content": [{"type": "text", "text": "bad"}]},
                    {"type": "document", "source": {"type": "text", "data": "bad"}},
                ],
            },
        ],
    }
    for text in MESSAGES.admit(body).texts:
        assert text.whole
        body = leaves.replaced(body, text.path, text.text.replace("bad", "***"))
    sent = orjson.dumps(MESSAGES.upstream_body(exchange("messages"), body))
    assert (sent.count(b"***"), sent.count(b"bad")) == (6, 0)


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": "hi"}, "messages"),
        ({"messages": [3]}, "messages[0]"),
        ({"messages": [{"role": 3}]}, "role"),
        ({"messages": [{"content": [{"type": "tool_use", "input": "{}"}]}]}, "messages.0.content.0.input"),
        ({"messages": [{"content": [{"type": "tool_use"}]}]}, "messages.0.content.0.input"),
        ({"messages": HI, "model": 3}, "model"),
        ({"messages": HI, "stream": "yes"}, "stream"),
        ({"messages": HI, "metadata": "x"}, "metadata"),
    ],
)
def test_a_field_that_is_wrong_is_named(body: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as caught:
        MESSAGES.admit(body)
    assert caught.value.param == param


def test_what_the_real_client_sends_is_understood() -> None:
    seen: list[bytes] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.read())
        body = orjson.loads(seen[0])
        teller = MESSAGES.outward(exchange("messages", stream=False), body)
        data = {"choices": [{"index": 0, "message": {"content": "晴"}, "finish_reason": "stop"}]}
        return httpx2.Response(200, json=teller.whole(data))

    http = httpx2.Client(transport=httpx2.MockTransport(answer))
    message = anthropic.Anthropic(api_key="k", base_url="http://gateway", http_client=http).messages.create(
        model="m",
        max_tokens=64,
        system=[{"type": "text", "text": "be good", "cache_control": {"type": "ephemeral"}}],
        messages=[
            {"role": "user", "content": "天气？"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "weather", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "晴"}]},
        ],
        tools=[{"name": "weather", "input_schema": {"type": "object"}}],
        tool_choice={"type": "auto"},
    )
    assert message.content[0].type == "text"
    assert message.content[0].text == "晴"
    sent = MESSAGES.upstream_body(exchange("messages", stream=False), orjson.loads(seen[0]))
    assert [said["role"] for said in sent["messages"]] == ["system", "user", "assistant", "tool"]


@pytest.mark.parametrize(
    ("thinking", "shown"),
    [(None, True), ({"type": "enabled"}, True), ({"type": "disabled"}, False), ({"display": "omitted"}, False)],
)
def test_thoughts_are_shown_unless_the_client_said_no(thinking: Any, shown: bool) -> None:
    teller = MESSAGES.outward(exchange("messages"), {"thinking": thinking})
    assert (b"thinking_delta" in wire(teller, [chunk(reasoning="hm")])) is shown


def test_an_answer_in_the_model_s_stead_is_told_as_its_own() -> None:
    asked = exchange("messages")
    events = parsed(wire(MESSAGES.outward(asked, {}), MESSAGES.canned(asked, "不行")))
    assert [data["delta"]["text"] for name, data in events if name == "content_block_delta"] == ["不行"]
    assert dict(events)["message_delta"]["delta"]["stop_reason"] == "refusal"
    whole = exchange("messages", stream=False)
    (body,) = MESSAGES.canned(whole, "no")
    assert MESSAGES.outward(whole, {}).whole(body)["content"] == [{"type": "text", "text": "no"}]


def test_faults_and_upstream_errors_have_the_client_s_shape() -> None:
    told = MESSAGES.error(Refused("no", status=403, reason="R101", rule="r"))
    assert (told["type"], told["error"]["type"], told["error"]["message"]) == ("error", "permission_error", "no")
    theirs = MESSAGES.their_error(429, {"error": {"message": "slow down", "type": "RateLimit", "param": None}})
    assert theirs == {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}
    told = MESSAGES.their_error(500, {})["error"]["message"]
    assert told == "the upstream answered with status 500 and no readable reason"
