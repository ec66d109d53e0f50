"""What the gateway's own hand holds in force above the files: codes kept from injecting, a wider search, and why.

It stands in tuned.yaml, so that all workers and the next start have it; `retrace tune --reset` takes it away. It only
ever takes reuse back, or looks for more of it within the policies of reasons.yaml: nothing here lets a draft be used in
a way its policy forbids.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from typing import Literal

from pydantic import Field

from gateway.plug import Strict
from gateway.rules import Inject

MOST_NOTED = 50  # acts that the file remembers

Cause = Literal["latency", "consistency"]
Fallback = Literal["mask", "none"]


class Brake(Strict):
    """One reason code whose captures are not injected, and when that is tried again. Times are seconds since 1970."""

    cause: Cause
    since: float
    pause: float = Field(gt=0, description="Seconds; doubled with each try that fails.")
    next: float = Field(description="When it is tried (again).")
    tried: float | None = Field(default=None, description="Since when some sessions have it again; none: nobody has.")
    tries: int = Field(default=0, ge=0, description="How many are over.")


class Returned(Strict):
    """A code that came back: when, and after which pause. If it soon goes off again, it stays off for longer."""

    at: float
    pause: float = Field(gt=0)


class Noted(Strict):
    """An act, as people read it."""

    at: float
    what: str
    code: str = ""
    why: str = ""


class Overlay(Strict):
    """All of it. Empty: what the files say is in force."""

    bits: int = Field(default=0, ge=0, le=6, description="By how many bits the search for donors is loosened.")
    moved: float | None = Field(default=None, description="When it last was, or was tightened.")
    futile: int = Field(default=0, ge=0, description="How often it was taken back after it had been loosened.")
    fallback: float | None = Field(default=None, description="Since when nothing is injected but what was readmitted.")
    breaker: float | None = Field(default=None, description="Since when a fault stops captures and injections.")
    mended: float | None = Field(default=None, description="When the breaker last closed.")
    tripped: int = Field(default=0, ge=0, description="How often it has opened lately; its pause doubles with that.")
    codes: dict[str, Brake] = Field(default={}, description="Reason codes that are off, or tried again.")
    returned: dict[str, Returned] = Field(default={}, description="Codes that were off and are back.")
    back: tuple[str, ...] = Field(default=(), description="Codes readmitted while the fallback lasts.")
    how: Fallback = Field(default="mask", description="mask: what was sensitive stays banned; none: not even that.")
    share: float = Field(default=0.1, gt=0, le=1, description="Of the sessions, those that try a code again.")
    acts: tuple[Noted, ...] = Field(default=(), max_length=MOST_NOTED, description="The last ones, oldest first.")

    @property
    def idle(self) -> bool:
        """Whether it changes nothing."""
        return not (self.bits or self.codes or self.fallback is not None or self.breaker is not None)

    def lets(self, reason: str, who: str) -> bool:
        """Whether captures kept for this reason may be injected for the session `who`."""
        if self.breaker is not None:
            return False
        brake = self.codes.get(reason)
        if brake is None:  # as it is nearly always
            return self.fallback is None or reason in self.back
        return brake.tried is not None and drawn(who) < self.share

    def held(self, policy: Inject) -> Inject:
        """A policy whose captures are not injected. They are still kept, so that a later try finds some; not so while
        the breaker is open, since then the engine or the store is what fails."""
        if self.breaker is not None:
            return policy.model_copy(update={"mode": "none", "capture": False, "ban": False})
        ban = policy.ban and self.how == "mask"
        return policy.model_copy(update={"mode": "none", "capture": policy.captures, "ban": ban})


EMPTY = Overlay()


def drawn(who: str) -> float:
    """The lot of a session, in [0, 1): always the same, and no other trial's."""
    lot = blake2b(who.encode(errors="surrogatepass"), digest_size=8, person=b"half-open").digest()
    return int.from_bytes(lot, "big") / 2**64


def noted(overlay: Overlay, acts: Iterable[Noted]) -> Overlay:
    """The same, with these acts remembered; the oldest go."""
    return overlay.model_copy(update={"acts": (*overlay.acts, *acts)[-MOST_NOTED:]})
