"""What a configuration says of captures: whose KV is kept, how each kind may be used, how captures are found again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from gateway.overlay import EMPTY, Overlay
from gateway.plug import OneOf, Strict, plugs
from gateway.rules import Inject, Place, When
from gateway.stores import StoreSpec
from gateway.types import Exchange, Side

ACCEPTED = "accepted"  # why a capture is kept, or dropped, whose draft no rule stopped

Capture = Literal["rejected", "all", "none"]

LEAST_BITS = 6  # of the usual size of a chunk

_POLICIES: Mapping[str, Inject] = {ACCEPTED: Inject(sensitive="allow")}
_DEFAULT = Inject()


class Lookup(Strict):
    """How captures are found again. `retrace tune` chooses these by your own traffic."""

    chunk_bits: int = Field(
        default=8, ge=LEAST_BITS, le=12, description="Prompts are compared in chunks of about 2**chunk_bits bytes."
    )
    bytes_per_token: float = Field(default=4.0, ge=1, le=16, description="By which savings are estimated beforehand.")
    codes: bool = Field(default=False, description="Whether captures are also found by the similarity of questions.")
    bits: int = Field(default=64, ge=16, le=64, description="Bits of a similarity code that are compared.")
    radius: int = Field(default=3, ge=0, le=7, description="By how many of them similar questions may differ.")
    window: int = Field(default=3, ge=1, le=5, description="Words of an n-gram in these codes.")

    def loosened(self, bits: int) -> Lookup:
        """The same with chunks of 2**bits times less text, so that shorter passages are known again; codes, where they
        are on, are compared in so many bits less and may differ in one more for two."""
        chunks = max(LEAST_BITS, self.chunk_bits - bits)
        changed: dict[str, int] = {"chunk_bits": chunks}
        if self.codes:
            changed |= {"bits": max(16, self.bits - bits), "radius": min(7, self.radius + bits // 2)}
        return self.model_copy(update=changed)


class Route(Strict):
    """Whose KV is kept of some exchanges; the first route that matches counts."""

    when: When
    capture: Capture


class Sampling(Strict):
    """A fair sample of the requests, for `retrace tune`. It holds what clients wrote; its file is readable to no other
    user."""

    file: str = Field(description="JSONL, relative to gateway.yaml.", examples=["sample.jsonl"])
    most: int = Field(default=500, ge=1, le=10_000, description="Requests it holds.")


class Retracing(Strict):
    """What a vLLM with our plugin keeps of exchanges, for later ones like them. Without the plugin all of it is off."""

    capture: Capture = Field(
        default="rejected",
        description="Whose KV is kept: of drafts that a rule blocked, of accepted ones too, or of none.",
    )
    routes: tuple[Route, ...] = Field(default=(), description="Where it is otherwise.")
    store: Annotated[StoreSpec, OneOf("stores")] = Field(
        default_factory=lambda: plugs("stores")["memory"](),
        description="Where captures are remembered: in this process, or shared by many in Redis.",
    )
    accepted: Inject = Field(
        default=_POLICIES[ACCEPTED], description="How captures of accepted drafts may be used (`capture: all`)."
    )
    lookup: Lookup = Lookup()
    tuned: str = Field(
        default="tuned.yaml",
        description="What `retrace tune --write` found: if the file is there, instead of `lookup`.",
    )

    policies: str = Field(
        default="policies.yaml",
        description="Where the gateway notes which rules each policy (`inject`) was confirmed for, and what is tried.",
    )
    sample: Sampling | None = Field(default=None, description="Off if absent.")

    def terms(self, policies: Mapping[str, Inject], tuned: Lookup | None) -> Terms:
        """All of it as exchanges ask for it."""
        return Terms(self.capture, {**policies, ACCEPTED: self.accepted}, self.routes, tuned or self.lookup)


class TunedFile(Strict):
    """The file that `retrace tune --write` and the controller write."""

    lookup: Lookup | None = Field(default=None, description="Instead of `retrace.lookup`.")
    sample: str = Field(default="", description="What it was found with.")
    hand: Overlay = Field(default=EMPTY, description="What the controller holds in force, and why.")


class Trial(NamedTuple):
    """A policy that a share of the sessions gets instead of the one in force. `key` names the trial everywhere."""

    policy: Inject
    share: float
    key: str

    def takes(self, exchange: Exchange) -> bool:
        """Whether this exchange gets it: all of a session do, or none. One without a session never does."""
        if not exchange.session:
            return False
        told = f"{len(exchange.principal.tenant)}:{exchange.principal.tenant}{exchange.session}"
        lot = blake2b(told.encode(errors="surrogatepass"), digest_size=8, key=self.key.encode()[:64], person=b"trial")
        return int.from_bytes(lot.digest(), "big") < self.share * 2**64


class Terms(NamedTuple):
    """All of it, as exchanges ask for it."""

    capture: Capture = "rejected"
    policies: Mapping[str, Inject] = {}
    routes: Sequence[Route] = ()
    lookup: Lookup = Lookup()
    trials: Mapping[str, Trial] = {}  # by reason code
    overlay: Overlay = EMPTY  # above all of it
    who: str = ""  # whose exchange it is, where a code that was off is tried by some sessions

    def under(self, overlay: Overlay) -> Terms:
        """The same with this in force above it; only for terms that are under nothing yet."""
        return self._replace(overlay=overlay, lookup=self.lookup.loosened(overlay.bits))

    def of(self, exchange: Exchange) -> Terms:
        """The terms of one exchange: where it is in a trial, with the policy that is tried."""
        if self.overlay.codes:
            tenant = exchange.principal.tenant
            return self._replace(who=f"{len(tenant)}:{tenant}{exchange.session or exchange.id}")._trying(exchange)
        return self._trying(exchange)

    def _trying(self, exchange: Exchange) -> Terms:
        tried = {code: trial.policy for code, trial in self.trials.items() if trial.takes(exchange)}
        return self._replace(policies={**self.policies, **tried}) if tried else self

    def tried(self, exchange: Exchange) -> tuple[str, ...]:
        """The codes of whose policies this exchange gets the new one."""
        return tuple(code for code, trial in self.trials.items() if trial.takes(exchange))

    def arm(self, reason: str, exchange: Exchange) -> Literal["now", "new"]:
        """Which of two policies for this reason an exchange gets: the one in force, or one that is tried."""
        trial = self.trials.get(reason)
        return "new" if trial is not None and trial.takes(exchange) else "now"

    def policy(self, reason: str) -> Inject:
        policy = self.policies.get(reason) or _POLICIES.get(reason, _DEFAULT)
        return policy if self.overlay.lets(reason, self.who) else self.overlay.held(policy)

    def capture_of(self, exchange: Exchange) -> Capture:
        """Whose KV is kept where this exchange passes."""
        who = exchange.principal
        place = Place(Side.INPUT, exchange.surface, exchange.model, who.tenant, who.tier, "user")
        return next((route.capture for route in self.routes if route.when.matches(place)), self.capture)
