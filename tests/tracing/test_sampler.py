"""Which exchanges are traced."""

from __future__ import annotations

import pytest

from gateway.traceparent import Caller
from gateway.tracing.file import Tracing
from gateway.tracing.sampler import Sampler


def sampler(**fields: object) -> Sampler:
    return Sampler(Tracing.model_validate({"endpoint": "http://h:4318", "per_second": 10_000, **fields}))


def share(made: Sampler, callers: list[Caller | None]) -> float:
    chosen = [made.choose(caller, float(n)) for n, caller in enumerate(callers)]
    return chosen.count("traced") / len(chosen)


@pytest.mark.parametrize("wanted", [0.0, 0.25, 1.0])
def test_a_share_of_those_without_a_caller(wanted: float) -> None:
    assert share(sampler(sample=wanted), [None] * 4000) == pytest.approx(wanted, abs=0.06)


@pytest.mark.parametrize("wanted", [0.0, 1.0])
def test_a_caller_decides(wanted: float) -> None:
    made = sampler(sample=wanted)
    assert made.choose(Caller(1, 1, True), 0) == "traced"
    assert made.choose(Caller(1, 1, False), 0) == "left"


def test_if_callers_do_not_decide_all_services_agree_on_a_trace() -> None:
    first, second = (sampler(sample=0.5, parent_based=False) for _ in range(2))
    callers = [Caller(n * 0x9E3779B97F4A7C15 | 1, 1, n % 2 == 0) for n in range(2000)]
    chosen = [first.choose(caller, 0.001 * n) for n, caller in enumerate(callers)]
    assert chosen == [second.choose(caller, 0.001 * n) for n, caller in enumerate(callers)]
    assert chosen.count("traced") / 2000 == pytest.approx(0.5, abs=0.06)


def test_never_too_many_in_a_second_whoever_wants_it() -> None:
    made = sampler(per_second=2)
    chosen = [made.choose(Caller(1, 1, True), 100.0) for _ in range(5)]
    assert chosen == ["traced", "traced", "limited", "limited", "limited"]
    assert [made.choose(None, 100.5), made.choose(None, 100.5)] == ["traced", "limited"]
    assert [made.choose(None, 200.0) for _ in range(3)] == ["traced", "traced", "limited"]


def test_less_than_one_in_a_second_comes_in_its_turn() -> None:
    made = sampler(per_second=0.1)
    assert [made.choose(None, at) for at in (50.0, 55.0, 60.1, 65.0)] == ["traced", "limited", "traced", "limited"]


def test_a_clock_that_goes_back_gives_nothing_away() -> None:
    made = sampler(per_second=1)
    assert [made.choose(None, at) for at in (50.0, 10.0, 10.5)] == ["traced", "limited", "limited"]
