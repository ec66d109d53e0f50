"""A tier without a life of its own answers what its function says, started or not."""

from __future__ import annotations

from gateway.tiers import Decision, Opinion
from gateway.tiers._instant import Instant
from tests.tiers.cases import case


async def test_it_says_what_its_function_says() -> None:
    tier = Instant(lambda asked: Opinion(Decision.FORCE, asked.answer))
    assert tier.foresee(case("other")) == Opinion(Decision.FORCE, "other")
    assert await tier.judge(case("a")) == Opinion(Decision.FORCE, "a")
    await tier.start()
    await tier.stop()
    assert await tier.judge(case("b")) == Opinion(Decision.FORCE, "b")
