"""What teams write: rules and reason codes in YAML. A rule says where it applies, what it looks for, what to do."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from gateway.anchors import AnchorSpec
from gateway.checks import Check, TokenCheck
from gateway.globs import Globs, fits
from gateway.plug import OneOf, Strict, plugs
from gateway.probes import ProbeSpec
from gateway.types import Action, Reason, Side

BROKEN = "R900"  # the reason code of a check that failed: guard.broken


class Place(NamedTuple):
    """What a rule's `when` can ask about a text."""

    side: Side
    surface: str
    model: str
    tenant: str
    tier: str
    role: str


Words = Annotated[dict[Literal["en", "zh"], str], Field(min_length=1, examples=[{"en": "...", "zh": "..."}])]


class When(Strict):
    """Where a rule applies: every field that is given must match. Names may hold `*` and `?`; lists mean any of."""

    model: Globs = ("*",)
    tenant: Globs = ("*",)
    tier: Globs = ("*",)
    surface: Globs = ("*",)
    role: Globs = Field(default=("*",), description="Who speaks: system, user, assistant, tool, ...")

    def matches(self, place: Place) -> bool:
        asked = {
            "model": self.model,
            "tenant": self.tenant,
            "tier": self.tier,
            "surface": self.surface,
            "role": self.role,
        }
        return all(fits(getattr(place, name), globs) for name, globs in asked.items())


class Steer(Strict):
    """What leads the model past the place where it went wrong, in the language of the answer."""

    say: Words | None = Field(default=None, description="The next words of the answer, which the client reads as well.")
    tell: Words | None = Field(
        default=None, description="An instruction behind the last question, which nobody but the model reads."
    )


class Rewinding(Strict):
    """How a rule with `action: rewind` repairs an answer: cut back to an anchor, go on from there."""

    budget: int = Field(default=2, ge=1, le=10, description="How often in one answer, for all such rules together.")
    anchors: tuple[Annotated[AnchorSpec, OneOf("anchors")], ...] = Field(
        default_factory=lambda: (plugs("anchors")["word"](),),
        min_length=1,
        description="Where it may be cut. Of a live stream text leaves from anchor to anchor: with `word` it waits for "
        "the begin of the next word, with `sentence` for that of the next sentence.",
    )
    steer: Steer = Steer()
    ban: bool = Field(
        default=True, description="Keep the model from saying what was found again, where the endpoint can (vLLM)."
    )
    otherwise: Literal["block", "tag", "refine"] = Field(
        default="block", alias="else", description="What the finding means once the budget is spent."
    )


class Rule(Strict):
    """One rule. `on_error` says what happens when its check fails: by default the text is blocked, never passed."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$", examples=["pii.card.output"])
    about: str = Field(default="", description="For whoever reads the file next.")
    side: Side
    when: When = When()
    check: Annotated[Check | ProbeSpec, OneOf("checks", "probes")]
    action: Action
    reason: str = Field(pattern=r"^R[0-9]{3}$", description="A code of reasons.yaml.", examples=["R101"])
    on_error: Literal["block", "tag", "allow"] = "block"
    message: Words | None = Field(default=None, description="Told to the client instead of the reason's own words.")
    respond: Literal["error", "answer"] = Field(
        default="error",
        description="A blocked input: an HTTP error, or a normal answer that holds the message.",
    )
    rewind: Rewinding | None = Field(default=None, description="For `action: rewind`: how; if absent, the defaults.")
    mask: str = Field(default="***", max_length=64, description="What stands in the place of masked text.")

    @model_validator(mode="after")
    def _sensible(self) -> Self:
        if self.respond == "answer" and (self.side is not Side.INPUT or self.action is not Action.BLOCK):
            raise ValueError("`respond: answer` belongs to rules with `side: input` and `action: block`")
        if self.action is Action.REWIND and self.side is not Side.OUTPUT:
            raise ValueError("only an answer can be rewound; write `side: output`, or `action: block`")
        if self.rewind is not None and self.action is not Action.REWIND:
            raise ValueError("`rewind` belongs to rules with `action: rewind`; write that, or take `rewind` out")
        return self

    @model_validator(mode="after")
    def _by_tokens(self) -> Self:
        if isinstance(self.check, TokenCheck) and (self.side is not Side.OUTPUT or self.action is Action.MASK):
            raise ValueError(
                f"`check: {self.check.type}` reads the model's own tokens; write `side: output`, and no `action: mask`"
            )
        return self

    @model_validator(mode="after")
    def _in_time(self) -> Self:
        """What takes its time has its word when the text is complete, and the request on its way already."""
        if not isinstance(self.check, ProbeSpec):
            return self
        kind = self.check.type
        if self.action in (Action.MASK, Action.REWIND):
            raise ValueError(f"`check: {kind}` takes its time; its `action` may be monitor, tag, refine or block")
        if self.respond == "answer":
            raise ValueError(f"`check: {kind}` takes its time; `respond: answer` is for checks that do not")
        if self.side is Side.OUTPUT and not fits("assistant", self.when.role):
            raise ValueError(f"`check: {kind}` reads answers only; leave `role` out, or write `role: assistant`")
        return self

    @property
    def rewinding(self) -> Rewinding:
        return self.rewind or _AS_USUAL


_AS_USUAL = Rewinding()


def _unique(rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    ids = [rule.id for rule in rules]
    twice = sorted({name for name in ids if ids.count(name) > 1}) if len(set(ids)) < len(ids) else []
    if twice:
        raise ValueError(f"these ids stand twice: {', '.join(twice)}")
    return rules


class RuleFile(Strict):
    """A file of rules (rules/input.yaml, rules/output.yaml, packs)."""

    rules: Annotated[tuple[Rule, ...], AfterValidator(_unique)] = ()


class Recompute(Strict):
    """How much of a spliced span is computed anew: what stands at its head holds the rest together."""

    first: int = Field(default=128, ge=0, le=65536, description="Tokens at its start.")
    share: float = Field(default=0.15, ge=0, le=1, description="At most this much of it.")


def _possible(mode: object) -> object:
    if mode in ("mask", "layers"):
        raise ValueError(f"`{mode}` saves no prefill on this engine; write `prefix` or `splice`")
    return mode


class Inject(Strict):
    """What may be done with the KV of a draft that was rejected for this reason."""

    mode: Annotated[Literal["none", "prefix", "splice"], BeforeValidator(_possible)] = Field(
        default="prefix",
        description="none: never injected. prefix: the part of a prompt that is the same from its start, exact. "
        "splice: also the same text at another place, approximate.",
    )
    capture: bool | None = Field(
        default=None, description="Whether the engine keeps it at all; if absent: unless the mode is `none`."
    )
    sensitive: Literal["cut", "mask", "allow"] = Field(
        default="cut",
        description="The rejected answer itself: never injected (cut), injected but for what the rules found (mask), "
        "or like the prompt (allow).",
    )
    cut: tuple[Annotated[str, Field(pattern=r"^R[0-9]{3}$")], ...] = Field(
        default=(),
        description="Reason codes whose findings are kept out as well, whatever their action: such as consoling "
        "phrases that a rule with `action: monitor` finds.",
    )
    after_sensitive: Literal["stop", "recompute", "allow"] = Field(
        default="stop", description="What stands behind a sensitive span and so has seen it."
    )
    ban: bool = Field(default=False, description="Keep the new answer from repeating the sensitive spans.")
    recompute: Recompute = Recompute()
    scope: Literal["tenant", "session"] = Field(
        default="tenant", description="Whom it may serve: the tenant, or only the session it comes from."
    )
    min_tokens: int = Field(default=256, ge=1, description="Shorter spans do not pay.")
    ttl_seconds: int = Field(default=3600, ge=1, le=30 * 86400, description="How long it is kept.")
    priority: int = Field(default=0, ge=-100, le=100, description="When room is short, the lowest goes first.")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.ban and self.sensitive == "allow":
            raise ValueError("`ban` needs sensitive spans to keep out; write `sensitive: mask`, or `ban: false`")
        return self

    @property
    def reusable(self) -> bool:
        """Whether captures are worth being found again."""
        return self.mode != "none" or self.captures

    @property
    def captures(self) -> bool:
        return self.mode != "none" if self.capture is None else self.capture


class ReasonEntry(Strict):
    """What a reason code means. Codes are public and stable: one out of use is never given away again."""

    name: str = Field(pattern=r"^[a-z]+(\.[a-z_]+)*$", examples=["sensitive.content"])
    meaning: str = Field(description="For operators: what was found, and why it matters.")
    status: int = Field(default=400, ge=400, le=599, description="HTTP status of a refused input.")
    message: Annotated[dict[Literal["en", "zh"], str], Field(min_length=2, description="Told to the client.")]
    inject: Inject = Field(default=Inject(), description="How the engine may reuse what was rejected for it.")


class ReasonFile(Strict):
    """All reason codes (rules/reasons.yaml)."""

    reasons: dict[Annotated[str, Field(pattern=r"^R[0-9]{3}$")], ReasonEntry]

    @cached_property
    def table(self) -> dict[str, Reason]:
        return {
            code: Reason(code, entry.name, entry.status, {str(k): v for k, v in entry.message.items()})
            for code, entry in self.reasons.items()
        }

    @property
    def policies(self) -> dict[str, Inject]:
        return {code: entry.inject for code, entry in self.reasons.items()}
