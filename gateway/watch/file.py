"""rules/watch.yaml: how much is measured of what reuse gives and costs, and what is done about it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import AfterValidator, Field

from gateway.plug import Strict
from gateway.refine.backlog import window
from gateway.watch.control import Controlling
from gateway.watch.series import Windows
from gateway.watch.trying import Trying


def _readable(text: str) -> str:
    window(text)
    return text


Weighed = Annotated[str, AfterValidator(_readable)]


class Weight(Strict):
    """More or fewer exchanges are repeated at some hours; the first window that holds counts."""

    window: Weighed = Field(description="Local time: 22:00-06:00 goes over midnight.")
    weight: float = Field(ge=0, le=1000, description="What the rate is multiplied by.")


class Shadowing(Strict):
    """Which exchanges that reused something are repeated, with it and without, and how much that may cost."""

    rate: float = Field(default=0.05, ge=0, le=1, description="Share of them that is repeated; 0: none ever is.")
    weights: tuple[Weight, ...] = Field(
        default=(),
        description="By the hour, such as more when little is going on.",
        examples=[[{"window": "22:00-06:00", "weight": 4}]],
    )
    tokens_per_hour: int = Field(default=100_000, ge=0, description="Most tokens of repeats, prompts and answers.")
    answer_tokens: int = Field(default=128, ge=1, le=4096, description="Most tokens of an answer that is repeated.")
    idle_below: int = Field(default=2, ge=1, description="Only while fewer requests than this are under way here.")
    wait_seconds: float = Field(
        default=600.0, gt=0, le=86_400, description="What could not be repeated by then is given up."
    )
    waiting: int = Field(default=16, ge=1, le=1024, description="Exchanges that wait; of more, the oldest is given up.")
    prompt_chars: int = Field(default=200_000, ge=1, description="Longer prompts are not repeated.")
    seconds: float = Field(default=120.0, gt=0, le=3600, description="For one repeat; slower ones are given up.")
    top_logprobs: int = Field(
        default=20,
        ge=0,
        le=20,
        description="By how many candidates for each token both sides are compared; 0: by none.",
    )

    def share(self, now: datetime) -> float:
        """The share of exchanges to repeat at this local time."""
        minute = 60 * now.hour + now.minute
        weight = next((one.weight for one in self.weights if window(one.window).holds(minute)), 1.0)
        return min(1.0, self.rate * weight)


class Measuring(Strict):
    """Over how long figures are read, and how sure their bounds are."""

    chr_seconds: float = Field(default=300.0, gt=0, le=7200, description="The window of the hit rate.")
    ld_seconds: float = Field(default=3600.0, gt=0, le=604_800, description="The window of latencies.")
    cs_seconds: float = Field(default=3600.0, gt=0, le=604_800, description="The window of consistency.")
    confidence: float = Field(default=0.95, ge=0.5, le=0.999, description="How often bounds hold what they bound.")
    pairs: int = Field(default=4096, ge=100, le=100_000, description="Measurements that are held.")

    @property
    def windows(self) -> Windows:
        return Windows(self.chr_seconds, self.ld_seconds, self.cs_seconds)


class WatchFile(Strict):
    """The file. Without it nothing is measured, and nothing done."""

    shadow: Shadowing = Shadowing()
    figures: Measuring = Measuring()
    control: Controlling = Controlling()
    trials: Trying = Trying()
    every_seconds: float = Field(default=15.0, ge=1, le=3600, description="How often the figures are read.")
