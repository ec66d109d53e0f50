"""The living tiers, asked in their order until one decides.

What may be the end of an answer is foreseen: tiers that need no time say at once what they think, and it is kept for
when this was the end indeed. Those that need long begin only where no tier before them has decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gateway import marks
from gateway.metrics import Metrics
from gateway.tiers import Case, Decision, Opinion, Tier, TierFault, TierSpec


class Wish(NamedTuple):
    """Whether an answer is to be read once more, who says so, and what the tiers have seen of risk.

    `broken` names a tier that could not judge where none of the others decided.
    """

    wanted: bool
    why: str = ""
    risk: float = 0.0
    broken: str = ""


class Foresight(NamedTuple):
    """What the first tiers of a panel think of an answer, in their order, should this be all of it."""

    panel: Panel
    case: Case
    opinions: Sequence[Opinion]


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

    def foresee(self, case: Case) -> Foresight:
        """This may be the answer."""
        opinions: list[Opinion] = []
        asked = case
        for _, tier in self._tiers:
            opinion = tier.foresee(asked)
            if opinion is None:
                break
            opinions.append(opinion)
            asked = asked._replace(risk=asked.risk + opinion.risk)
            if opinion.decision is not Decision.PASS:
                break
        return Foresight(self, case, opinions)

    async def judge(self, case: Case, foreseen: Foresight | None = None) -> Wish:
        """What the first tier says that decides. What was `foreseen` of this very case is not asked again."""
        known = foreseen is not None and foreseen.panel is self and foreseen.case == case
        opinions = foreseen.opinions if foreseen is not None and known else ()
        broken = ""
        for place, (name, tier) in enumerate(self._tiers):
            try:
                with marks.stage("tier", tier=name) as seen:
                    opinion = opinions[place] if place < len(opinions) else await tier.judge(case)
                    seen.note(decision=opinion.decision.value, why=opinion.why)
            except TierFault as fault:
                self._metrics.tier_judged(name, fault.kind)
                broken = f"{name}_{fault.kind}"
                continue
            self._metrics.tier_judged(name, opinion.decision.value)
            case = case._replace(risk=case.risk + opinion.risk)
            if opinion.decision is not Decision.PASS:
                return Wish(opinion.decision is Decision.FORCE, f"{name}:{opinion.why}", case.risk)
        return Wish(False, "", case.risk, broken)
