"""LiteLLM's payload: guardrails, failures, redacted words."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.assess import _litellm
from tests.assess.samples import day, litellm

ONE = litellm(day()[1])


def read(**fields: Any) -> Any:
    return _litellm.read(b"", {**ONE, **fields})


def test_a_payload_tells_all_of_it_and_may_stand_inside_another_object() -> None:
    line = read()
    assert (line.rejected, line.tenant, line.at) == (False, "acme", day()[1].at)
    assert line.prompt == len(day()[1].prompt) // 4
    assert line.body["messages"]
    assert _litellm.read(b"", {"standard_logging_object": ONE}) == line


@pytest.mark.parametrize(
    ("fields", "rejected"),
    [
        ({"status_fields": {"guardrail_status": "guardrail_intervened"}}, True),
        ({"guardrail_information": [{"guardrail_status": "blocked"}]}, True),
        ({"guardrail_information": {"guardrail_status": "success"}}, False),
        ({"status": "failure", "error_information": {"error_class": "ContentPolicyViolationError"}}, True),
        ({"status": "failure", "error_information": {"error_class": "RateLimitError"}}, False),
        ({"status": "success", "error_str": "Guardrail"}, False),
    ],
)
def test_a_guardrail_that_stepped_in_is_a_rejection_and_a_fault_is_none(fields: dict[str, Any], rejected: bool) -> None:
    assert read(**fields).rejected is rejected


def test_redacted_words_are_no_words_and_zero_tokens_are_not_known() -> None:
    line = read(messages=[{"role": "user", "content": "redacted-by-litellm"}], prompt_tokens=0, completion_tokens=0)
    assert (line.body, line.prompt, line.completion) == (None, None, None)


@pytest.mark.parametrize("told", [None, {}, {"messages": []}, {"startTime": 1}])
def test_anything_else_is_of_another_format(told: Any) -> None:
    assert _litellm.read(b"", told) is None
