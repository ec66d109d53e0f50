"""How far two answers agree, token by token, as far as both had the same text before them."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.watch._steps import Step, agreement, divergence, steps, wanted

SHARES = st.dictionaries(st.sampled_from("abcdef"), st.floats(0.01, 1), min_size=1).map(
    lambda told: {token: math.log(share / sum(told.values())) for token, share in told.items()}
)


def said(*tokens: str, sure: float = 0.9) -> list[Step]:
    return [Step(token, {token: math.log(sure), "?": math.log(1 - sure)}) for token in tokens]


def test_the_same_answers_agree_wholly() -> None:
    told = agreement(said("a", "b", "c"), said("a", "b", "c"))
    assert told == (1, 0)


def test_they_are_compared_up_to_where_they_part() -> None:
    told = agreement(said("a", "b", "x", "y", "z"), said("a", "b", "c", "y"))
    assert told is not None
    assert told.top1 == pytest.approx(2 / 3)
    # two places alike, and one where c (0.9) is not among the other's candidates, who are sure of x: only ? is shared
    assert told.kl == pytest.approx((0 + 0 + 0.1 * math.log(0.1 / 0.1) + 0.9 * math.log(0.9 / 0.9)) / 3)
    assert agreement(said("x"), said("a")) == (0, 0)


def test_less_sure_is_divergence() -> None:
    told = agreement(said("a", sure=0.5), said("a", sure=0.9))
    assert told is not None
    assert told.top1 == 1
    assert told.kl == pytest.approx(0.9 * math.log(0.9 / 0.5) + 0.1 * math.log(0.1 / 0.5))


def test_where_nothing_is_told_nothing_is_known() -> None:
    assert agreement([], said("a")) is None
    assert agreement(said("a"), []) is None


@given(SHARES, SHARES)
def test_it_is_never_more_than_the_whole_divergence(true: dict[str, float], other: dict[str, float]) -> None:
    told = divergence(true, other)
    assert told >= 0
    if set(true) <= set(other):
        whole = sum(math.exp(p) * (p - other[token]) for token, p in true.items())
        assert told <= whole + 1e-6


@given(SHARES)
def test_nothing_diverges_from_itself(true: dict[str, float]) -> None:
    assert divergence(true, true) == pytest.approx(0, abs=1e-6)


def test_both_formats_are_read() -> None:
    chat = {"content": [{"token": "a", "logprob": -0.5, "top_logprobs": [{"token": "a", "logprob": -0.5}]}]}
    plain = {"tokens": ["a", "b"], "token_logprobs": [-0.5, -1], "top_logprobs": [{"a": -0.5}, None]}
    assert steps({"choices": [{"logprobs": chat}]}) == [Step("a", {"a": -0.5})]
    assert steps({"choices": [{"logprobs": plain}]}) == [Step("a", {"a": -0.5})]


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"choices": None},
        {"choices": []},
        {"choices": ["x"]},
        {"choices": [{"logprobs": None}]},
        {"choices": [{"logprobs": {}}]},
        {"choices": [{"logprobs": {"content": [None, {}, {"token": 1}, {"token": "a", "top_logprobs": [{}]}]}}]},
        {"choices": [{"logprobs": {"tokens": ["a"], "top_logprobs": [3]}}]},
        {"choices": [{"logprobs": {"tokens": ["a"], "top_logprobs": "b"}}]},
        {"choices": [{"logprobs": {"tokens": ["a"], "top_logprobs": [{"a": 7}]}}]},
    ],
)
def test_what_makes_no_sense_is_nothing(told: dict[str, Any]) -> None:
    assert steps(told) == []


def test_how_they_are_asked_for() -> None:
    assert wanted("/v1/chat/completions", 5) == {"logprobs": True, "top_logprobs": 5}
    assert wanted("/v1/completions", 5) == {"logprobs": 5}
    assert wanted("/v1/completions", 0) == {}
