"""Which exchanges are traced."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gateway.traceparent import Caller
from gateway.tracing.file import Tracing
from gateway.tracing.sampler import Sampler


def sampler(**fields: object) -> Sampler:
    return Sampler(Tracing.model_validate({"endpoint": "http://h:4318", "per_second": 10_000, **fields}))


def traced(made: Sampler, callers: Sequence[Caller | None], apart: float = 1.0) -> list[bool]:
    """Of each whether it is traced, if they come so many seconds apart."""
    return [made.has_room(apart * n) and made.chosen(caller) for n, caller in enumerate(callers)]


def at(made: Sampler, *times: float) -> list[bool]:
    """The same of callers who say nothing, and come at these times."""
    return [made.has_room(time) and made.chosen(None) for time in times]


@pytest.mark.parametrize("wanted", [0.0, 0.25, 1.0])
def test_a_share_of_those_without_a_caller(wanted: float) -> None:
    assert sum(traced(sampler(sample=wanted), [None] * 4000)) / 4000 == pytest.approx(wanted, abs=0.06)


@pytest.mark.parametrize("wanted", [0.0, 1.0])
def test_a_caller_decides(wanted: float) -> None:
    made = sampler(sample=wanted)
    assert traced(made, [Caller(1, 1, True), Caller(1, 1, False)]) == [True, False]


def test_if_callers_do_not_decide_all_services_agree_on_a_trace() -> None:
    first, second = (sampler(sample=0.5, parent_based=False) for _ in range(2))
    callers = [Caller(n * 0x9E3779B97F4A7C15 | 1, 1, n % 2 == 0) for n in range(2000)]
    chosen = traced(first, callers, 0.001)
    assert chosen == traced(second, callers, 0.001)
    assert sum(chosen) / 2000 == pytest.approx(0.5, abs=0.06)


def test_never_too_many_in_a_second_whoever_wants_it() -> None:
    made = sampler(per_second=2)
    assert traced(made, [Caller(1, 1, True)] * 5, 0.0) == [True, True, False, False, False]
    assert at(made, 0.5, 0.5) == [True, False]
    assert at(made, 100.0, 100.0, 100.0) == [True, True, False]


def test_who_is_not_wanted_takes_nobody_s_place() -> None:
    made = sampler(per_second=1)
    assert traced(made, [Caller(1, 1, False)] * 3 + [Caller(1, 1, True)], 0.0) == [False, False, False, True]


def test_less_than_one_in_a_second_comes_in_its_turn() -> None:
    assert at(sampler(per_second=0.1), 50.0, 55.0, 60.1, 65.0) == [True, False, True, False]


def test_a_clock_that_goes_back_gives_nothing_away() -> None:
    assert at(sampler(per_second=1), 50.0, 10.0, 10.5) == [True, False, False]
