"""The nouns."""

from __future__ import annotations

import dataclasses

import pytest

from gateway.types import Action, Draft, Finding, Principal, Scan, Usage, Verdict


def finding(action: Action) -> Finding:
    return Finding("r", "R101", action, 0, 1)


def test_verdicts_stand_in_order_of_gravity() -> None:
    assert sorted(Verdict) == [Verdict.ALLOW, Verdict.TAG, Verdict.REFINE, Verdict.MASK, Verdict.REWIND, Verdict.BLOCK]


@pytest.mark.parametrize(
    ("action", "verdict"),
    [
        ("monitor", Verdict.ALLOW),
        ("tag", Verdict.TAG),
        ("mask", Verdict.MASK),
        ("rewind", Verdict.REWIND),
        ("block", Verdict.BLOCK),
    ],
)
def test_each_action_is_a_verdict(action: str, verdict: Verdict) -> None:
    assert Action(action).verdict is verdict
    assert finding(Action(action)).verdict is verdict


def test_only_what_changes_the_text_makes_it_wait() -> None:
    assert [action.value for action in Action if action.holds] == ["mask", "rewind", "block"]


def test_the_worst_verdict_is_the_draft_s() -> None:
    assert Draft().verdict is Verdict.ALLOW
    assert Draft([finding(Action.TAG), finding(Action.MASK), finding(Action.MONITOR)]).verdict is Verdict.MASK


@pytest.mark.parametrize("counts", [(-1, 0), (0, -1)])
def test_token_counts_can_not_be_negative(counts: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="negative"):
        Usage(*counts)


def test_what_travels_can_not_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Principal().tenant = "other"  # type: ignore[misc]


def test_a_scan_holds_from_its_earliest_living_check_on() -> None:
    assert Scan([], 9).hold == 9
    assert Scan([], 9, [(1, 4), (0, 7)]).hold == 4
