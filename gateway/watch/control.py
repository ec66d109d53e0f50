"""`control` in rules/watch.yaml: at which figures the gateway steps back by itself, how far it may go, how it returns.

A figure counts once its bound lies beyond the threshold, not its value: with few samples nothing is done. What stands
here differs from the usual recipe (a code of 2 bits fewer, an n-gram of one word more) where this search differs:

- Prompts are compared in chunks, and similarity codes are off by default. So 2 bits fewer are taken off the size of
  the chunks: they hold a quarter of the text, and shorter passages are known again.
- Where codes are on as well, 2 bits fewer of them are compared and they may differ in one bit more. The n-gram keeps
  its length: a longer one finds less and not more, and it changes all codes, as only new captures would have them.
- Other chunks are other hashes: what was captured before is found no more. The rate first falls, so nothing is judged
  for `settle_minutes` after such an act, and 2 bits are moved at once and not one after the other.
"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from gateway.overlay import Fallback
from gateway.plug import Strict

Mode = Literal["off", "observe", "act"]


class Hits(Strict):
    """CHR, the share of searches that ended in reuse: by it the search is loosened and tightened back."""

    low: float = Field(default=0.15, ge=0, le=1, description="Surely below: loosen.")
    high: float = Field(default=0.60, ge=0, le=1, description="Surely above: take back what was loosened.")
    minutes: float = Field(default=5.0, ge=0, le=1440, description="For so long without a break.")
    bits: int = Field(default=2, ge=1, le=6, description="Bits that an act loosens by.")
    most_bits: int = Field(default=2, ge=0, le=6, description="Bits that it may be loosened by in all; 0: never.")
    settle_minutes: float = Field(
        default=60.0, gt=0, le=1440, description="After an act, until captures of the new kind are there to be found."
    )

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if self.low >= self.high:
            raise ValueError("`low` must be below `high`; or what was loosened is tightened at once")
        return self


class Latency(Strict):
    """LD, how much sooner the first token comes: codes that don't pay are switched off."""

    least: float = Field(default=-0.05, ge=-1, le=1, description="Surely above (-0.05: less than 5 % sooner): act.")
    back: float = Field(default=-0.08, ge=-1, le=1, description="A code that is tried again stays on from here down.")
    minutes: float = Field(default=10.0, ge=0, le=1440, description="For so long without a break.")
    most_off: int = Field(default=3, ge=0, le=100, description="Codes that may be off for this; 0: none ever is.")

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if self.back > self.least:
            raise ValueError("`back` can't be above `least`; it is what keeps a code from going off and on")
        return self


class Consistency(Strict):
    """CS, how alike answers are with reuse and without: below it nothing is injected any more."""

    low: float = Field(default=0.82, ge=0, le=1, description="Surely below: fall back; a single code: switch it off.")
    back: float = Field(default=0.85, ge=0, le=1, description="A code that is tried again stays on from here up.")
    minutes: float = Field(default=3.0, ge=0, le=1440, description="For so long without a break.")
    fallback: Fallback = Field(
        default="mask",
        description="mask: nothing is injected, but the words that a policy bans (`ban`) stay banned. none: not even "
        "that.",
    )

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if self.back < self.low:
            raise ValueError("`back` can't be below `low`; it is what keeps a code from going off and on")
        return self


class Return(Strict):
    """How what was switched off comes back: after a pause a share of the sessions tries it, and the figures decide."""

    pause_minutes: float = Field(default=60.0, gt=0, le=10080, description="Doubled with each try that fails.")
    longest_hours: float = Field(default=24.0, gt=0, le=720, description="The pause grows no longer.")
    share: float = Field(default=0.1, gt=0, le=1, description="Of the sessions, those that try.")
    try_minutes: float = Field(
        default=240.0,
        gt=0,
        le=10080,
        description="A try without a verdict ends after that and is made again later, unless it looks good so far.",
    )
    minutes: float = Field(default=10.0, ge=0, le=1440, description="A verdict must hold so long.")


class Faults(Strict):
    """Faults of the engine's plugin or of the store: while they last nothing is captured or injected."""

    seconds: float = Field(default=30.0, ge=0, le=3600, description="So long without a break.")
    back_minutes: float = Field(
        default=2.0, gt=0, le=1440, description="Without a fault; doubled if it opens again soon."
    )


class Controlling(Strict):
    """The controller. One of the worker processes leads, and acts; the others follow by the file."""

    mode: Mode = Field(
        default="observe",
        description="observe: what would be done is logged and counted, and not done. act: it is done. off: nothing. "
        "Only while it says `act` anything that was done is in force.",
    )
    hits: Hits = Hits()
    latency: Latency = Latency()
    consistency: Consistency = Consistency()
    recovery: Return = Return()
    faults: Faults = Faults()
    acts_an_hour: int = Field(
        default=12, ge=1, le=1000, description="No more are made, but those that stop what may do harm."
    )
