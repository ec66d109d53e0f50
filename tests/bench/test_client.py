"""What an engine answers, read."""

from __future__ import annotations

import json

import httpx
import pytest

from tests.bench.client import Answer, Client, EngineError

BODY = {
    "choices": [
        {
            "text": " ok",
            "logprobs": {
                "token_logprobs": [-0.5, -0.25],
                "top_logprobs": [{"token_id:7": -0.5, "token_id:57": -2.0}, {"token_id:9": -0.25, "token_id:1": -3.0}],
            },
            "finish_reason": "length",
            "token_ids": [7, 9],
        }
    ],
    "usage": {"prompt_tokens": 19, "completion_tokens": 2},
    "kv_transfer_params": {"retrace": {"injected_tokens": 16, "declined": None}},
}


def engine(status: int = 200, body: object = BODY) -> tuple[Client, list[httpx.Request]]:
    """A client of an engine that says the same to all, and what it was asked."""
    asked: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(status, json=body)

    return Client(httpx.Client(base_url="http://engine", transport=httpx.MockTransport(answer)), "m"), asked


def test_an_answer_is_read_in_token_ids() -> None:
    answer = Answer.read(BODY, 0.5)
    assert answer.ids == (7, 9)
    assert answer.tops == ({7: -0.5, 57: -2.0}, {9: -0.25, 1: -3.0})
    assert (answer.text, answer.prompt_tokens, answer.finish, answer.seconds) == (" ok", 19, "length", 0.5)
    assert answer.retrace["injected_tokens"] == 16


def test_an_engine_without_plugin_reports_nothing() -> None:
    plain = {**BODY, "kv_transfer_params": None, "choices": [{**BODY["choices"][0], "logprobs": None}]}  # type: ignore[index]
    answer = Answer.read(plain, 0.5)
    assert answer.retrace == {}
    assert answer.tops == ()


def test_only_what_is_wanted_is_asked_for() -> None:
    client, asked = engine()
    client.ask([1, 2])
    client.ask("hi", max_tokens=3, tops=20, retrace={"donor": "d"}, salt="s", ignore_eos=True)
    bare, full = (json.loads(request.content) for request in asked)
    assert bare["prompt"] == [1, 2]
    assert {"logprobs", "kv_transfer_params", "cache_salt"} & set(bare) == set()
    assert full["kv_transfer_params"] == {"retrace": {"donor": "d"}}
    assert (full["logprobs"], full["cache_salt"], full["ignore_eos"], full["max_tokens"]) == (20, "s", True, 3)


def test_a_refusal_is_told_in_the_engine_s_words() -> None:
    client, _ = engine(404, {"error": {"code": "unknown_capture"}})
    with pytest.raises(EngineError, match=r"HTTP 404.*unknown_capture") as told:
        client.drop("c")
    assert told.value.status == 404
