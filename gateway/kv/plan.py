"""What of a donor may be injected into a request, and where: pure, token by token.

- the longest common prefix is exact: the same tokens at the same positions have the same KV
- a later span that agrees (align.py) is a splice: its keys move to new positions, its first tokens are computed anew
- what the verdict called sensitive is cut out, and what stands behind it as well, unless the policy says otherwise
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gateway.kv.align import align, common_prefix
from gateway.kv.nouns import USUAL, After, Ask, Decline, Entry, Mode, Owner, Recompute, Span, State

SHORTEST_JUMP = 32  # tokens; a shorter one costs more than it saves, since each is a step of its own


class Subject(NamedTuple):
    """A request as the plan sees it."""

    tokens: Sequence[int]
    owner: Owner
    ask: Ask
    supported: bool = True


class Engine(NamedTuple):
    """What matters of the engine: block size, each KV group's sliding window (None: full), whether it can splice."""

    block_size: int
    windows: tuple[int | None, ...]
    splices: bool


class Plan(NamedTuple):
    """The first `prefix` tokens exactly, then `jumps` in order; or why nothing.

    A jump is a span of the request that is not computed but taken from the donor. `recomputed` counts the tokens of
    the spans that are computed all the same.
    """

    prefix: int = 0
    jumps: tuple[Span, ...] = ()
    recomputed: int = 0
    declined: Decline | None = None

    @property
    def mode(self) -> Mode:
        if self.jumps:
            return Mode.SPLICE
        return Mode.PREFIX if self.prefix else Mode.NONE


def plan(subject: Subject, donor: Entry | None, engine: Engine) -> Plan:
    """What to inject into `subject` from `donor`."""
    reason = refused(subject, donor)
    if reason or donor is None or subject.ask.mode is Mode.NONE:
        return Plan(declined=reason)
    subject = subject._replace(tokens=tuple(subject.tokens))
    limit = len(subject.tokens) - 1  # one token must be computed: its logits are the first answer
    allowed = clear(donor, subject.ask)
    agreed = min(common_prefix(donor.tokens, subject.tokens), limit)
    prefix = min(agreed, allowed[0][1] if allowed and allowed[0][0] == 0 else 0)
    if prefix < engine.block_size:
        prefix = 0
    jumps: list[Span] = []
    recomputed = 0
    if subject.ask.mode is Mode.SPLICE:
        for span in spans(subject, donor, allowed, prefix, limit):
            made = jumped(span, wanted(span, donor, subject.ask))
            jumps += made
            recomputed += span.length - sum(jump.length for jump in made) if made else 0
    if jumps and not engine.splices:
        jumps, recomputed = [], 0
        if not prefix:
            return Plan(declined=Decline.NO_SPLICE)
    if not prefix and not jumps:
        return Plan(declined=Decline.SENSITIVE if agreed >= engine.block_size else Decline.NO_MATCH)
    return whole(Plan(prefix, tuple(jumps), recomputed), donor, engine)


def refused(subject: Subject, donor: Entry | None) -> Decline | None:
    """Why this donor may not serve this request at all, if so."""
    if subject.ask.mode is Mode.NONE or subject.ask.donor is None:
        return None
    if not subject.supported:
        return Decline.UNSUPPORTED
    if donor is None:
        return Decline.UNKNOWN_DONOR
    checks = (
        (donor.owner.tenant == subject.owner.tenant, Decline.TENANT),
        (donor.owner.adapter == subject.owner.adapter, Decline.ADAPTER),
        (donor.owner.fingerprint == subject.owner.fingerprint, Decline.FINGERPRINT),
        (donor.state in (State.KEPT, State.ACTIVE), Decline.NOT_KEPT),
        (not donor.on_disk, Decline.ON_DISK),
    )
    return next((reason for agrees, reason in checks if not agrees), None)


def clear(donor: Entry, ask: Ask) -> list[tuple[int, int]]:
    """The stretches of a donor that may be used, in order."""
    end = len(donor.tokens)
    out: list[tuple[int, int]] = []
    at = 0
    for start, stop in sorted((*donor.sensitive, *ask.sensitive)):
        if start >= end:
            break
        if start > at:
            out.append((at, start))
        at = max(at, min(stop, end))
        if ask.after_sensitive is After.STOP:
            return out
    if at < end:
        out.append((at, end))
    return out


def spans(
    subject: Subject, donor: Entry, allowed: Sequence[tuple[int, int]], prefix: int, limit: int
) -> Iterable[Span]:
    """The spans behind the prefix that agree, cut to what is allowed and what must be left to compute."""
    least = subject.ask.least
    for found in align(donor.tokens, subject.tokens, least):
        for start, end in allowed:
            first = max(found.donor, start, found.donor + max(prefix, 1) - found.start)
            last = min(found.donor + found.length, end, found.donor + limit - found.start)
            if last - first >= least:
                yield Span(first, first + found.shift, last - first)


def wanted(span: Span, donor: Entry, ask: Ask) -> Recompute:
    """How much of a span is computed anew: what was asked for, and behind what is sensitive no less than is usual."""
    behind = any(start < span.donor for start, _ in (*donor.sensitive, *ask.sensitive))
    if not behind or ask.after_sensitive is not After.RECOMPUTE:
        return ask.recompute
    return Recompute(max(ask.recompute.first, USUAL.first), max(ask.recompute.share, USUAL.share))


def jumped(span: Span, recompute: Recompute) -> list[Span]:
    """The parts of a span that are taken as they are: all but what `recompute` wants computed anew."""
    first = min(recompute.first, int(span.length * recompute.share))
    jump = Span(span.donor + first, span.start + first, span.length - first)
    return [jump] if jump.length >= SHORTEST_JUMP else []


def whole(made: Plan, donor: Entry, engine: Engine) -> Plan:
    """The plan, if the donor has all that each KV group will look at: a sliding window sees only the end of a part."""
    parts = [Span(0, 0, made.prefix)] if made.prefix else []
    for part in (*parts, *made.jumps):
        for group, window in enumerate(engine.windows):
            seen = part.length if window is None else min(part.length, window)
            first = (part.donor + part.length - seen) // engine.block_size
            last = (part.donor + part.length - 1) // engine.block_size
            if any(donor.holes[block] >> group & 1 for block in range(first, last + 1)):
                return Plan(declined=Decline.HOLES)
    return made
