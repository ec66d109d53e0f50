"""rules/watch.yaml: how much is measured of what reuse gives and costs, and what is done about it."""

from __future__ import annotations

from pydantic import Field

from gateway.plug import Strict


class Shadowing(Strict):
    """Which exchanges are repeated without a donor, and how much that may cost."""

    rate: float = Field(default=0.05, ge=0, le=1, description="Share of the exchanges with reuse that are repeated.")


class WatchFile(Strict):
    """The file. Without it nothing is measured, and nothing done."""

    shadow: Shadowing = Shadowing()
    every_seconds: float = Field(default=15.0, ge=1, le=3600, description="How often the figures are read.")
