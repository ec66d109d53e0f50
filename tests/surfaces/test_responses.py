"""`/v1/responses`: what is judged of a request, and how faults are told."""

from __future__ import annotations

from typing import Any

import httpx2
import openai
import orjson
import pytest

from gateway import leaves
from gateway.errors import BadRequest, Refused
from gateway.surfaces.responses import Plug
from tests.surfaces.clients import JSON, completion, exchange, gpt, parsed, wire

RESPONSES = Plug()
CALL = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"x": "bad"}'}


def texts(**body: Any) -> list[tuple[str, str]]:
    return [(text.role, text.text) for text in RESPONSES.admit({"input": "hi", **body}).texts]


def test_what_the_road_must_know_of_a_request() -> None:
    asked = RESPONSES.admit({"model": "m", "input": "hi", "stream": True})
    assert (asked.model, asked.stream, asked.choices, asked.wants_usage) == ("m", True, 1, True)
    assert asked.texts[0].path == ("input",)


def test_who_speaks_is_told_with_each_text() -> None:
    items = [
        {"role": "developer", "content": "brief"},
        {"role": "user", "content": [{"type": "input_text", "text": "天气？"}]},
        {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "想"}]},
        CALL,
        {"type": "function_call_output", "call_id": "c1", "output": "晴"},
        {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "雨"}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "好"}]},
    ]
    assert texts(instructions="be good", input=items) == [
        ("system", "be good"),
        ("developer", "brief"),
        ("user", "天气？"),
        ("assistant", "想"),
        ("assistant", "f"),
        ("assistant", '{"x": "bad"}'),
        ("tool", "晴"),
        ("tool", "雨"),
        ("assistant", "好"),
    ]


def test_the_arguments_of_a_call_are_known_as_such() -> None:
    assert RESPONSES.admit({"input": [CALL]}).texts[-1].path[-1] == "arguments"


def test_texts_in_a_row_are_judged_together_as_well() -> None:
    two = [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}]
    for item in ({"role": "user", "content": two}, {"type": "function_call_output", "call_id": "c", "output": two}):
        assert [text for _, text in texts(input=[item])] == ["a", "b", "a\nb"]


def test_media_are_not_looked_into() -> None:
    picture = {"type": "input_image", "image_url": "data:image/png;base64,AAAA", "detail": "low"}
    assert texts(input=[{"role": "user", "content": [picture]}]) == []


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"tools": [{"type": "function", "name": "f", "description": "of tools"}]}, "of tools"),
        ({"text": {"format": {"schema": {"description": "of answers"}}}}, "of answers"),
        ({"chat_template_kwargs": {"note": "deep"}}, "deep"),
    ],
)
def test_texts_beside_the_input_are_found(body: dict[str, Any], text: str) -> None:
    assert ("request", text) in texts(**body)


def test_every_text_can_be_put_back_where_it_stands() -> None:
    body: dict[str, Any] = {
        "model": "m",
        "instructions": "bad",
        "tools": [{"type": "function", "name": "f", "description": "bad", "parameters": {"type": "object"}}],
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "bad"}]},
            {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "bad"}]},
            CALL,
            {"type": "function_call_output", "call_id": "c1", "output": "bad"},
        ],
    }
    for text in RESPONSES.admit(body).texts:
        assert text.whole
        body = leaves.replaced(body, text.path, text.text.replace("bad", "***"))
    sent = orjson.dumps(RESPONSES.upstream_body(exchange("responses"), body))
    assert (sent.count(b"***"), sent.count(b"bad")) == (6, 0)


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "input"),
        ({"input": []}, "input"),
        ({"input": {"role": "user"}}, "input"),
        ({"input": [3]}, "input[0]"),
        ({"input": "hi", "model": 3}, "model"),
        ({"input": "hi", "stream": "yes"}, "stream"),
    ],
)
def test_a_field_that_is_wrong_is_named(body: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as caught:
        RESPONSES.admit(body)
    assert caught.value.param == param


def test_what_the_real_client_sends_is_understood_turn_after_turn() -> None:
    seen: list[Any] = []
    call = {"id": "c1", "function": {"name": "f", "arguments": "{}"}}
    answers = [completion("tool_calls", reasoning="想", tool_calls=[call]), completion(content="晴")]

    def answer(request: httpx2.Request) -> httpx2.Response:
        body = orjson.loads(request.read())
        seen.append(RESPONSES.upstream_body(exchange("responses", stream=False), body))
        teller = RESPONSES.outward(exchange("responses", stream=False), body)
        return httpx2.Response(200, json=teller.whole(answers[len(seen) - 1]))

    http = httpx2.Client(transport=httpx2.MockTransport(answer))
    client = openai.OpenAI(api_key="k", base_url="http://gateway/v1", http_client=http)
    items: list[Any] = [{"role": "user", "content": "天气？"}]
    first = client.responses.create(model="m", input=items, store=False, include=["reasoning.encrypted_content"])
    items += first.output
    items.append({"type": "function_call_output", "call_id": "c1", "output": "sunny"})
    second = client.responses.create(model="m", input=items, store=False)
    assert second.output_text == "晴"
    assert seen[1]["messages"] == [
        {"role": "user", "content": "天气？"},
        {
            "role": "assistant",
            "content": None,
            "reasoning": "想",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        },
        {"role": "tool", "content": "sunny", "tool_call_id": "c1"},
    ]


def test_an_answer_in_the_model_s_stead_is_told_as_its_own() -> None:
    asked = exchange("responses")
    events = parsed(wire(RESPONSES.outward(asked, {}), RESPONSES.canned(asked, "不行")))
    assert [data["delta"] for name, data in events if name == "response.output_text.delta"] == ["不行"]
    assert events[-1][1]["response"]["incomplete_details"] == {"reason": "content_filter"}


@pytest.mark.parametrize(
    ("status", "raised"),
    [
        (400, openai.BadRequestError),
        (401, openai.AuthenticationError),
        (403, openai.PermissionDeniedError),
        (429, openai.RateLimitError),
        (503, openai.InternalServerError),
    ],
)
def test_faults_have_the_client_s_shape(status: int, raised: type[openai.APIStatusError]) -> None:
    body = RESPONSES.error(Refused("不行", status=status, reason="R101", rule="r", param="input"))
    with pytest.raises(raised) as caught:
        gpt(orjson.dumps(body), status, JSON).responses.create(model="m", input="hi")
    assert (caught.value.code, caught.value.param) == ("content_filter", "input")
