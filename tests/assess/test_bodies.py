"""Bodies with answers of four protocols: who was stopped, how long they are."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.assess import _bodies

ASKED = {"model": "m", "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]}


def test_a_bare_body_tells_what_was_asked_and_nothing_of_the_answer() -> None:
    line = _bodies.read(b"", ASKED)
    assert line is not None
    assert (line.rejected, line.said, line.prompt) == (None, None, None)
    assert (line.asked, line.question) == (len("Be brief.\nWhy?"), "Why?")


@pytest.mark.parametrize(
    ("answer", "rejected", "tokens"),
    [
        (
            {"choices": [{"message": {"content": "So."}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 9}},
            False,
            9,
        ),
        ({"choices": [{"text": "So.", "finish_reason": "content_filter"}]}, True, None),
        ({"choices": [{"message": {"content": None, "refusal": "I can't."}, "finish_reason": "stop"}]}, True, None),
        ({"error": {"code": "content_filter", "type": "invalid_request_error"}}, True, None),
        ({"error": {"code": "rate_limit_exceeded"}}, False, None),
        (
            {"content": [{"type": "text", "text": "So."}], "stop_reason": "refusal", "usage": {"input_tokens": 4}},
            True,
            4,
        ),
        ({"output": [{"content": [{"text": "So."}]}], "incomplete_details": {"reason": "content_filter"}}, True, None),
        ("So.", False, None),
    ],
)
def test_an_answer_tells_whether_it_was_stopped(answer: Any, rejected: bool, tokens: int | None) -> None:
    line = _bodies.read(b"", {"request": ASKED, "response": answer, "tenant": "acme", "ts": 1_700_000_000})
    assert line is not None
    assert (line.rejected, line.prompt, line.tenant, line.at) == (rejected, tokens, "acme", 1_700_000_000.0)


def test_what_the_sample_of_the_gateway_holds_is_understood() -> None:
    line = _bodies.read(b"", {"tenant": "t", "body": {"prompt": "你好"}})
    assert line is not None
    assert (line.tenant, line.asked, line.question) == ("t", 6, "你好")


@pytest.mark.parametrize("told", [None, {}, {"messages": 3}, {"request": "text"}, {"choices": [], "input": "x"}])
def test_anything_else_is_of_another_format(told: Any) -> None:
    assert _bodies.read(b"", told) is None
