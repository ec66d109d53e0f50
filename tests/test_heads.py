"""What the head of a reply tells."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.flow import Errand
from gateway.heads import head
from gateway.ledger import Trip
from gateway.types import Action, Draft, Exchange, Finding, Outcome, Principal, Refined


def errand(draft: Draft) -> Any:
    exchange = Exchange("rt-1", "chat", "m", Principal(), ())
    return Errand(*(None, None, exchange, Trip(0.0, draft=draft), None, None))  # type: ignore[arg-type]


def told(draft: Draft) -> dict[str, str]:
    return head(errand(draft), "application/json", {"x-theirs": "1", "content-length": "9"}, {})


def finding(action: Action, reason: str = "R101") -> Finding:
    return Finding("one", reason, action, 0, 1)


def test_without_a_finding_it_says_so_and_how_the_answer_is_delivered() -> None:
    said = told(Draft())
    assert said["content-type"] == "application/json"
    assert said["x-retrace-id"] == "rt-1"
    assert said["x-retrace-verdict"] == "allow"
    assert said["x-retrace-delivery"] == "live"
    assert "content-length" not in said
    assert not {"x-retrace-reason", "x-retrace-refined", "x-retrace-degraded"} & said.keys()


def test_the_worst_verdict_and_each_reason_of_one_that_counts() -> None:
    said = told(Draft([finding(Action.TAG), finding(Action.MONITOR, "R307"), finding(Action.MASK, "R102")]))
    assert (said["x-retrace-verdict"], said["x-retrace-reason"]) == ("mask", "R101,R102")
    assert "x-retrace-reason" not in told(Draft([finding(Action.MONITOR)]))


@pytest.mark.parametrize("outcome", [Outcome.FINE, Outcome.CORRECTED, Outcome.KEPT])
def test_what_a_second_reading_has_made_of_it(outcome: Outcome) -> None:
    said = told(Draft(refined={0: Refined(Outcome.UNTOUCHED), 1: Refined(outcome, entry="e")}))
    assert (said["x-retrace-refined"], said["x-retrace-refine-entry"]) == (outcome.value, "e")


def test_one_choice_that_could_not_be_read_is_what_counts() -> None:
    said = told(Draft(refined={0: Refined(Outcome.CORRECTED), 1: Refined(Outcome.DEGRADED, "slow")}))
    assert (said["x-retrace-refined"], said["x-retrace-degraded"]) == ("degraded", "refine; slow")
