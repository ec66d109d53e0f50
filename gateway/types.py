"""The nouns that travel through the house: frozen, valid at birth, and importing nothing of ours.

Positions are characters (code points). A span is half open: [start, end).
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum, StrEnum
from typing import NamedTuple

NEVER = sys.maxsize  # a position that no text reaches


class Verdict(IntEnum):
    """What the rules decide. The worst one wins."""

    ALLOW = 0
    TAG = 1
    REFINE = 2
    MASK = 3
    REWIND = 4
    BLOCK = 5

    @property
    def word(self) -> str:
        """As headers, metrics and logs call it."""
        return _WORDS[self]


class Action(StrEnum):
    """What a rule does about a finding. `monitor` counts and logs, and changes nothing; `refine` has the answer read
    once more (rules/refine.yaml); `rewind` cuts it back and lets the model go on from there."""

    MONITOR = "monitor"
    TAG = "tag"
    REFINE = "refine"
    MASK = "mask"
    REWIND = "rewind"
    BLOCK = "block"

    @property
    def verdict(self) -> Verdict:
        return _VERDICTS[self]

    @property
    def holds(self) -> bool:
        """Whether text must wait for the rule: only a rule that changes the text needs that."""
        return self.verdict >= Verdict.MASK


class Side(StrEnum):
    """Which way a text goes: from the client to the model, or back."""

    INPUT = "input"
    OUTPUT = "output"


_WORDS = {verdict: verdict.name.lower() for verdict in Verdict}
_VERDICTS = {
    Action.MONITOR: Verdict.ALLOW,
    Action.TAG: Verdict.TAG,
    Action.REFINE: Verdict.REFINE,
    Action.MASK: Verdict.MASK,
    Action.REWIND: Verdict.REWIND,
    Action.BLOCK: Verdict.BLOCK,
}


class View(NamedTuple):
    """A text as a check sees it: all of it, or the part of a stream that is still open.

    `text` begins at position `base` of the whole; what stands before `begin` (an index into `text`) was judged
    before and is only context. `final` says that nothing more will come.
    """

    text: str
    begin: int = 0
    base: int = 0
    final: bool = True


class Hit(NamedTuple):
    """Check number `number` of a scanner saw something at [start, end) of a view's text."""

    number: int
    start: int
    end: int


class Scan(NamedTuple):
    """What a scanner knows of a view of `end` characters: hits, and the checks that more text could still change.

    `alive` says from which index on each of those needs to see the text again. `wake`, a position of the whole text:
    before the text has grown that far (or ended), another look would tell nothing new.
    """

    hits: Sequence[Hit]
    end: int
    alive: Sequence[tuple[int, int]] = ()
    wake: int = 0

    @property
    def hold(self) -> int:
        """The index from which more text could change something for some check."""
        return min((start for _, start in self.alive), default=self.end)


class Piece(NamedTuple):
    """A part of one channel's text: `choice` of the answer, `channel` such as content, reasoning or a tool call."""

    choice: int
    channel: str
    text: str


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks: the tenant and tier that an API key names. Nothing of the key itself."""

    tenant: str = "default"
    tier: str = "standard"


class Text(NamedTuple):
    """One text of a request: where it stands in the body, who is said to have spoken it, and its words.

    Not `whole`: the text was put together from several parts, which are texts of their own.
    """

    path: tuple[str | int, ...]
    role: str
    text: str
    whole: bool = True


class Exchange(NamedTuple):
    """One client request on its way through, understood: what to judge, and what the client asked for."""

    id: str
    surface: str
    model: str
    principal: Principal
    texts: tuple[Text, ...]
    stream: bool = False
    choices: int = 1
    wants_usage: bool = True
    explain: bool = False
    session: str = ""  # whatever the client calls it; empty if it names none


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason code: its stable public name, what it means, what a client is told, and the HTTP status for input."""

    code: str
    name: str
    status: int
    message: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule decided on a span, in positions of the whole text."""

    rule: str
    reason: str
    action: Action
    start: int
    end: int
    replacement: str = ""
    text: str = field(default="", repr=False, compare=False)  # what was found; never logged

    @property
    def verdict(self) -> Verdict:
        return self.action.verdict


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the upstream counted them."""

    prompt: int = 0
    completion: int = 0
    cached: int | None = field(default=None, compare=False)  # of the prompt, from the engine's memory; None: not told

    def __post_init__(self) -> None:
        if self.prompt < 0 or self.completion < 0:
            raise ValueError("token counts can't be negative")


class Correction(NamedTuple):
    """One place of an answer set right: the words as they stand in the answer, those that belong there, and why."""

    quote: str
    fixed: str
    evidence: str


class Outcome(StrEnum):
    """What became of an answer that could have been read once more."""

    UNTOUCHED = "untouched"  # nothing called for it
    FINE = "fine"  # it was read, and nothing is wrong
    CORRECTED = "corrected"
    KEPT = "kept"  # a correction was proposed that would have made it worse
    DEGRADED = "degraded"  # it should have been read, and could not be


class Refined(NamedTuple):
    """How one choice of an answer went through refining. `why` is a short stable word."""

    outcome: Outcome
    why: str = ""
    corrections: tuple[Correction, ...] = ()
    usage: Usage | None = None  # of the second reading
    entry: str = ""  # what the cache calls what it was taken from, or put under


@dataclass(frozen=True, slots=True)
class Attempt:
    """A part of the answer that was cut away, and what that cost. Tokens are counted in events, which hold one as a
    rule: of some endpoints they are a lower bound."""

    choice: int
    finding: Finding
    anchor: str  # the kind of anchor it was cut back to
    kept: int  # tokens of the answer that stand of this attempt
    wasted: int  # tokens of this attempt that were cut away
    beside: int = 0  # tokens of this attempt that stand beside the answer, such as those of its reasoning

    @property
    def stands(self) -> int:
        return self.kept + self.beside

    def wasting(self, more: int) -> Attempt:
        """The same, with more tokens that nobody hears."""
        return replace(self, wasted=self.wasted + more)


@dataclass(slots=True)
class Draft:
    """What became of the answer so far: the one noun that grows while the exchange is on its way."""

    findings: list[Finding] = field(default_factory=list)
    asked: int = 0  # how many of these are of the request; the others are of the answer
    usage: Usage | None = None
    finish: dict[int, str] = field(default_factory=dict)
    halted: dict[int, Finding] = field(default_factory=dict)
    refined: dict[int, Refined] = field(default_factory=dict)
    attempts: list[Attempt] = field(default_factory=list)  # those that were cut back

    @property
    def verdict(self) -> Verdict:
        """The worst verdict so far."""
        return max(finding.verdict for finding in self.findings) if self.findings else Verdict.ALLOW


class Reuse(NamedTuple):
    """What an engine says became of one call's capture, and of the donor it was offered. Counts are tokens."""

    exchange: str
    capture: str
    replica: str
    verdict: str  # kept, dropped, gone, failed, lost
    reason: str  # why it was to be kept or dropped
    donor: str = ""  # the capture that was offered, if any
    donor_reason: str = ""
    asked: str = ""  # the mode that was asked for
    mode: str = "none"  # the mode it came to
    captured: int = 0
    injected: int = 0
    recomputed: int = 0
    declined: str = ""
