"""The living tiers, asked in their order until one decides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gateway.metrics import Metrics
from gateway.tiers import Case, Decision, Tier, TierFault, TierSpec


class Wish(NamedTuple):
    """Whether an answer is to be read once more, who says so, and what the tiers have seen of risk.

    `broken` names a tier that could not judge where none of the others decided.
    """

    wanted: bool
    why: str = ""
    risk: float = 0.0
    broken: str = ""


class Panel:
    """The tiers of one file. `start` comes first."""

    def __init__(self, specs: Sequence[TierSpec], metrics: Metrics) -> None:
        self._tiers: list[tuple[str, Tier]] = [(spec.type, spec.connect()) for spec in specs]
        self._metrics = metrics

    async def start(self) -> None:
        for _, tier in self._tiers:
            await tier.start()

    async def stop(self) -> None:
        for _, tier in self._tiers:
            await tier.stop()

    def foresee(self, case: Case) -> None:
        """This may be the answer."""
        for _, tier in self._tiers:
            tier.foresee(case)

    async def judge(self, case: Case) -> Wish:
        """What the first tier says that decides."""
        broken = ""
        for name, tier in self._tiers:
            try:
                opinion = await tier.judge(case)
            except TierFault as fault:
                self._metrics.tier_judged(name, fault.kind)
                broken = f"{name}_{fault.kind}"
                continue
            self._metrics.tier_judged(name, opinion.decision.value)
            case = case._replace(risk=case.risk + opinion.risk)
            if opinion.decision is not Decision.PASS:
                return Wish(opinion.decision is Decision.FORCE, f"{name}:{opinion.why}", case.risk)
        return Wish(False, "", case.risk, broken)
