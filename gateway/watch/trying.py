"""`trials` in rules/watch.yaml: how a changed policy of reuse is tried before all sessions get it (trials.py)."""

from __future__ import annotations

from pydantic import Field

from gateway.plug import Strict


class Margins(Strict):
    """By how much a new policy may be worse than the old one and still be taken. Smaller margins need more samples."""

    late: float = Field(
        default=0.10, gt=0, le=1, description="LD: of the time to the first token. 0.1: -15 % instead of -25 %."
    )
    unlike: float = Field(default=0.05, gt=0, le=1, description="CS: 0.05: 0.87 instead of 0.92.")
    left: float = Field(default=0.02, gt=0, le=1, description="Drop-off: 0.02: 5 % of the visits instead of 3 %.")


class Trying(Strict):
    """A changed policy goes to a share of the sessions first, and to all once it is shown to be no worse."""

    share: float = Field(default=0.1, gt=0, lt=1, description="Of the sessions, those that get it.")
    margins: Margins = Margins()
    risk: float = Field(
        default=0.05,
        gt=0,
        le=0.2,
        description="The chance to take a policy that is worse than its margins, and the chance to turn back one that "
        "is as good as the old one. Each holds however often it is looked.",
    )
    least_pairs: int = Field(
        default=50, ge=10, le=10_000, description="Exchanges served twice, of either arm, before LD or CS is judged."
    )
    least_visits: int = Field(default=200, ge=20, le=1_000_000, description="Visits of either arm for the drop-off.")
    looks: int = Field(
        default=6,
        ge=1,
        le=12,
        description="How often it is tested for harm: at the least samples, and when they double.",
    )
    visit_minutes: float = Field(
        default=30.0, gt=0, le=1440, description="A session's requests within this are one visit."
    )
    most_hours: float = Field(
        default=168.0, gt=0, le=8760, description="A trial that has shown nothing by then ends: the old policy stays."
    )
