"""What travels inside the engine's half of the house: captures, spans, what a request asks for, what became of it.

Positions are tokens. A span is half open: [start, end). All of it is pure data and imports nothing of ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

OPEN_END = (1 << 31) - 1  # the end of a span that reaches to the end of a capture, however long that is


class State(StrEnum):
    """What a capture is good for. A KEPT one is ACTIVE while somebody reads it; nothing reads any other."""

    PENDING = "pending"  # no verdict yet: dropped when its time is over
    KEPT = "kept"
    ACTIVE = "active"
    EXPIRED = "expired"  # dropped, out of time or displaced; its bytes are gone, its name is not given again


class Decline(StrEnum):
    """Why nothing was injected: the `declined` of a report, and a metric's label."""

    BAD_ASK = "bad_ask"  # the request's own parameters make no sense
    UNKNOWN_DONOR = "unknown_donor"
    NOT_KEPT = "not_kept"
    TENANT = "tenant"
    ADAPTER = "adapter"
    FINGERPRINT = "fingerprint"
    NO_MATCH = "no_match"  # the tokens agree nowhere, or not for long enough
    SENSITIVE = "sensitive"  # what agrees is sensitive, or stands behind what is
    ON_DISK = "on_disk"  # it has to be brought back into memory first, which has been ordered
    HOLES = "holes"  # a sliding window has already lost what would be needed
    CACHED = "cached"  # the engine's own prefix cache has as much
    UNSUPPORTED = "unsupported"  # pictures, prompt_logprobs, embeddings: not understood, so not touched
    NO_SPLICE = "no_splice"  # only a splice would help, and this engine can't (see health)
    LOAD_FAILED = "load_failed"  # the entry was gone or torn; the prompt was computed in full
    PREEMPTED = "preempted"  # the engine took its blocks away; the second time it was computed in full
    FAULT = "fault"  # our own mistake, caught and counted


class Mode(StrEnum):
    """How donor KV may be used: not at all, the common prefix exactly, or spans moved to other positions."""

    NONE = "none"
    PREFIX = "prefix"
    SPLICE = "splice"


class After(StrEnum):
    """What may be done with KV that stands behind a sensitive span, and so has seen it."""

    STOP = "stop"  # nothing behind it is injected
    RECOMPUTE = "recompute"  # injected, but never with less computed anew than is usual
    ALLOW = "allow"  # injected like any other


class Span(NamedTuple):
    """`length` tokens that agree: donor[donor:donor+length] == request[start:start+length]."""

    donor: int
    start: int
    length: int

    @property
    def end(self) -> int:
        return self.start + self.length

    @property
    def shift(self) -> int:
        """By how many positions its keys must be moved."""
        return self.start - self.donor


class Owner(NamedTuple):
    """Whom a capture may serve: the tenant's salt, the adapter (LoRA), the engine it was computed by."""

    tenant: str
    adapter: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Block:
    """One published block of a capture: its tokens, the checksum of its record, and what it lacks.

    `holes` is a bit set over the engine's KV groups whose part of the record is missing (outside a sliding window).
    """

    index: int
    tokens: tuple[int, ...]
    crc: int
    holes: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    """A capture as the pool knows it. `tokens` of all published blocks, in order; `holes` a bit set for each block."""

    id: str
    owner: Owner
    state: State
    block_size: int
    record_bytes: int
    tokens: tuple[int, ...] = ()
    holes: tuple[int, ...] = ()
    prompt_tokens: int = 0
    reason: str = ""
    sensitive: tuple[tuple[int, int], ...] = ()
    priority: int = 0
    created: float = 0.0  # seconds since the epoch
    expires: float = 0.0
    on_disk: bool = False
    report: Mapping[str, Any] = field(default_factory=dict)
    tail: tuple[int, ...] = ()  # tokens behind the last block, once the request is over

    @property
    def blocks(self) -> int:
        return len(self.holes)

    @property
    def bytes(self) -> int:
        """What its data takes in the pool, to the byte."""
        return self.blocks * self.record_bytes if self.state is not State.EXPIRED else 0


class Recompute(NamedTuple):
    """How much of a span is computed anew: its first tokens, and at most a share of it.

    Later tokens lean on the first ones of a span (Hu et al. 2024, EPIC). 128 of them brought the divergence of the next
    token down up to ten times; as many tokens chosen by how far they deviate, or spread over the span, did no better.
    """

    first: int = 128
    share: float = 0.15


USUAL = Recompute()


@dataclass(frozen=True, slots=True)
class Ask:
    """What a request asks of us: `kv_transfer_params.retrace`, checked."""

    capture: str | None = None
    donor: str | None = None
    mode: Mode = Mode.NONE
    recompute: Recompute = USUAL
    after_sensitive: After = After.STOP
    sensitive: tuple[tuple[int, int], ...] = ()  # in the donor's positions, beside those the verdict named
    least: int = 256  # a span shorter than this does not pay
    ban: bool = False  # keep the answer from repeating the donor's sensitive spans
    owner: str | None = None  # whose captures may serve it; None: those of its own cache salt
    record: bool = True  # false: of the capture only the report is kept, none of its KV


@dataclass(slots=True)
class Report:
    """What became of a request: `kv_transfer_params.retrace` of the response."""

    captured_tokens: int = 0
    injected_tokens: int = 0
    recomputed_tokens: int = 0  # of the spans that were injected
    mode: Mode = Mode.NONE
    declined: str | None = None

    def to_dict(self) -> dict[str, Any]:
        return {
            "captured_tokens": self.captured_tokens,
            "injected_tokens": self.injected_tokens,
            "recomputed_tokens": self.recomputed_tokens,
            "mode": self.mode.value,
            "declined": self.declined,
        }
