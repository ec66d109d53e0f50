"""What keeps a second reading within its limits."""

from __future__ import annotations

import asyncio

import pytest

from gateway.refine.guards import TENANTS, Gatekeeper, Guards, Quota, Refusal, Spent
from gateway.rules import Place, When
from gateway.types import Side


class Clock:
    seconds = 6000.0

    def __call__(self) -> float:
        return self.seconds


async def enter(gate: Gatekeeper, tenant: str = "shop", quota: int = 1000, tokens: int = 10) -> None:
    async with gate.place(tenant, quota, tokens):
        return


def test_tokens_count_for_an_hour() -> None:
    clock = Clock()
    spent = Spent(clock)
    spent.add("a", 5)
    clock.seconds += 30 * 60
    spent.add("a", 7)
    spent.add("b", 1)
    assert spent.by("a") == 12
    clock.seconds += 31 * 60
    assert spent.by("a") == 7
    clock.seconds += 60 * 60
    assert (spent.by("a"), spent.by("b"), spent.by("c")) == (0, 0, 0)


def test_what_is_remembered_of_tenants_is_bounded() -> None:
    spent = Spent(Clock())
    for number in range(TENANTS + 5):
        spent.add(str(number), 1)
    assert spent.by("0") == 0
    assert spent.by(str(TENANTS)) == 1


async def test_who_has_spent_his_tokens_waits_for_the_next_hour() -> None:
    clock = Clock()
    gate = Gatekeeper(Guards(), clock)
    gate.spent.add("shop", 995)
    with pytest.raises(Refusal, match="quota"):
        await enter(gate)
    await enter(gate, tenant="other")
    clock.seconds += 3601
    await enter(gate)


async def test_one_reading_has_its_own_limit() -> None:
    with pytest.raises(Refusal, match="too_long"):
        await enter(Gatekeeper(Guards(request_tokens=256)), tokens=257)


async def test_so_many_at_once_and_as_many_more_that_wait() -> None:
    gate = Gatekeeper(Guards(concurrent=1))
    go = asyncio.Event()
    inside = 0

    async def reading() -> None:
        nonlocal inside
        async with gate.place("shop", 1000, 10):
            inside += 1
            await go.wait()

    first, second = asyncio.create_task(reading()), asyncio.create_task(reading())
    await asyncio.sleep(0)
    with pytest.raises(Refusal, match="busy"):
        await enter(gate)
    assert inside == 1
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    go.set()
    await first
    await enter(gate)


async def test_after_faults_in_a_row_few_try_and_one_success_is_enough() -> None:
    clock = Clock()
    gate = Gatekeeper(Guards(retry_seconds=2), clock)
    for _ in range(3):
        await enter(gate)
        gate.breaker.failed()
    with pytest.raises(Refusal, match="down"):
        await enter(gate)
    for _ in range(6):  # however long it has been down, it is tried that often
        clock.seconds += 2
        await enter(gate)
        gate.breaker.failed()
        with pytest.raises(Refusal, match="down"):
            await enter(gate)
    clock.seconds += 2
    await enter(gate)
    gate.breaker.succeeded()
    await enter(gate)


def test_the_first_quota_that_matches_counts() -> None:
    vip = Quota(when=When(tier=("vip",)), tokens_per_hour=9)
    guards = Guards(tenant_tokens_per_hour=5, quotas=(vip, Quota(tokens_per_hour=7)))
    place = Place(Side.OUTPUT, "chat", "m", "t", "vip", "assistant")
    assert guards.quota(place) == 9
    assert guards.quota(place._replace(tier="standard")) == 7
    assert Guards(tenant_tokens_per_hour=5).quota(place) == 5
