"""`type: business`: for whom, and where, an answer is worth checking. The first case that fits decides.

No case fits: the tier has no opinion. How much may be checked for whom (quotas) is not asked here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from gateway.tiers import PASS, Case, Decision, Opinion, Tier, TierSpec
from gateway.tiers._figures import figures
from gateway.tiers._instant import Instant
from gateway.tiers._scope import Scope


class Line(Scope):
    """One case of business, and what is decided in it."""

    decision: Decision
    why: str = Field(pattern=r"^[a-z][a-z0-9.-]{0,31}$", description="Stands in logs and metrics.", examples=["vip"])
    min_chars: int = Field(default=0, ge=0, description="Characters that the answer has at least.")
    digits: bool | None = Field(
        default=None, description="Whether the answer holds a figure, in digits or words of both languages."
    )
    risk: float = Field(default=0.0, ge=-10, le=10, description="With `pass`: log-odds that are added for later tiers.")

    def fits(self, case: Case) -> bool:
        """Whether this is the case."""
        if len(case.answer) < self.min_chars or not self.covers(case):
            return False
        return self.digits is None or figures(case.answer) == self.digits


def _named_once(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    names = [line.why for line in lines]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"these stand twice as `why`: {', '.join(twice)}; metrics could not tell them apart")
    return lines


class Plug(TierSpec):
    """Cases of business, in order."""

    type: Literal["business"] = "business"
    cases: Annotated[tuple[Line, ...], AfterValidator(_named_once)] = ()

    def connect(self) -> Tier:
        return Instant(lambda case: _opinion(self.cases, case))


def _opinion(lines: Sequence[Line], case: Case) -> Opinion:
    line = next((line for line in lines if line.fits(case)), None)
    return Opinion(line.decision, line.why, line.risk if line.decision is Decision.PASS else 0.0) if line else PASS
