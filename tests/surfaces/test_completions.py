"""`/v1/completions`."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.errors import BadRequest
from gateway.plug import plugs
from gateway.surfaces import Continuation
from gateway.types import Piece, Text
from tests.wires import exchange

COMPLETIONS = plugs("surfaces")["completions"]()


def test_a_prompt_is_the_user_s_text() -> None:
    asked = COMPLETIONS.admit({"model": "m", "prompt": "hi", "suffix": "end"})
    assert asked.texts == (Text(("prompt",), "user", "hi"), Text(("suffix",), "user", "end"))


def test_each_prompt_of_a_list_is_one_with_choices_of_its_own() -> None:
    asked = COMPLETIONS.admit({"prompt": ["a", "b"], "n": 3})
    assert [(text.path, text.text) for text in asked.texts] == [(("prompt", 0), "a"), (("prompt", 1), "b")]
    assert asked.choices == 6


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "prompt"),
        ({"prompt": None}, "prompt"),
        ({"prompt": []}, "prompt"),
        ({"prompt": 3}, "prompt"),
        ({"prompt": [1, 2]}, "prompt"),
        ({"prompt": [[1, 2]]}, "prompt"),
        ({"prompt": ["a", 1]}, "prompt"),
        ({"prompt": {"a": "b"}}, "prompt"),
        ({"prompt": "a", "prompt_embeds": "AAAA"}, "prompt_embeds"),
        ({"prompt": "a", "suffix": 3}, "suffix"),
        ({"prompt": "a", "n": 0}, "n"),
    ],
)
def test_what_can_not_be_judged_is_refused_by_name(body: dict[str, Any], param: str) -> None:
    with pytest.raises(BadRequest) as caught:
        COMPLETIONS.admit(body)
    assert caught.value.param == param


def test_every_text_of_a_choice_is_found_and_its_bookkeeping_is_not() -> None:
    choice = {
        "index": 1,
        "text": "a",
        "reasoning": "b",
        "deep": {"x": ["c"]},
        "finish_reason": "stop",
        "stop_reason": "END",
        "logprobs": {"tokens": ["a"]},
        "token_ids": [1],
    }
    reading = COMPLETIONS.read({"choices": [choice]})
    assert list(reading.pieces) == [Piece(1, "text", "a"), Piece(1, "reasoning", "b"), Piece(1, "deep.x.0", "c")]
    assert reading.ends == {1: "stop"}


def test_an_answer_in_the_model_s_stead_ends_each_choice() -> None:
    events = COMPLETIONS.canned(exchange(2, "completions"), "no")
    assert [(event["choices"][0]["index"], event["choices"][0]["text"]) for event in events] == [(0, "no"), (1, "no")]
    assert {event["choices"][0]["finish_reason"] for event in events} == {"content_filter"}


# How an answer goes on.


def going_on(kept: str, choice: int = 0, **fields: Any) -> dict[str, Any]:
    asking = COMPLETIONS.resume(fields, Continuation(kept, choice, ban=["稳赚"], instruct=True, tell="No promises."))
    assert asking.path == "/v1/completions"
    body: dict[str, Any] = asking.body
    return body


def test_a_text_goes_on_from_its_prompt_and_all_that_stands() -> None:
    body = going_on(" so far", prompt="Say:", n=2, suffix="end", max_tokens=9)
    assert body["prompt"] == "Say: so far"
    assert (body["bad_words"], body["suffix"], body["stream"]) == (["稳赚"], "end", True)
    assert "n" not in body


@pytest.mark.parametrize(("n", "prompts"), [(None, "abc"), (1, "abc"), (2, "aabbcc")])
def test_each_choice_goes_on_from_its_own_prompt(n: int | None, prompts: str) -> None:
    asked = {"prompt": ["a", "b", "c"], **({} if n is None else {"n": n})}
    assert [going_on("!", choice, **asked)["prompt"] for choice in range(len(prompts))] == [f"{x}!" for x in prompts]


def test_a_prompt_that_the_answer_repeats_stands_once() -> None:
    assert going_on("Say: so far", prompt="Say:", echo=True)["prompt"] == "Say: so far"
    assert going_on("", prompt="Say:", echo=True)["prompt"] == "Say:"
    assert "echo" not in going_on("Say: so far", prompt="Say:", echo=True)


def test_what_the_rule_says_itself_is_a_text_like_any() -> None:
    data = COMPLETIONS.spoken({"id": "c1", "object": "text_completion"}, 1, " so")
    assert data == {
        "id": "c1",
        "object": "text_completion",
        "choices": [{"index": 1, "text": " so", "logprobs": None, "finish_reason": None}],
    }
    assert COMPLETIONS.read(data).pieces == [Piece(1, "text", " so")]
