"""How much of a text may leave, and what of it: text in, a frontier out. No I/O.

The window keeps what is still open. At each word end (a Chinese character is one) its lanes judge that, and the
frontier moves to the earliest place from which a rule could still need something. So:

- text before the frontier never changes, and no finding that acts begins in it;
- where the frontier ends up, what is masked and which finding halts are functions of the whole text, never of how
  the stream was cut: a finding counts once nothing that could still come can start before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from operator import attrgetter

from gateway.judge import Lane, Track
from gateway.types import Finding, Verdict

CONTEXT = 2048  # judged characters kept, for checks that look back
_WORD = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LONGEST_WORD = 64

_order = attrgetter("start", "rule")  # a total one: it must not matter which of two lanes was sure first


class Window:
    """Judges one channel of one choice as it streams."""

    __slots__ = (
        "_base",
        "_before",
        "_end",
        "_masks",
        "_open",
        "_pending",
        "_tracks",
        "_word",
        "frontier",
        "halted",
        "seen",
    )

    def __init__(self, lanes: Iterable[Lane], before: str = "") -> None:
        """`before` has left already, in an earlier window of the same text: it is judged again with what follows."""
        self._tracks = [Track(lane) for lane in lanes]
        self._open = before  # judged text, from position _base on
        self._word = ""  # a word whose end has not come
        self._base = 0
        self._end = self._before = len(before)
        self._pending: list[Finding] = []  # settled for their lane, not yet passed by the frontier
        self._masks: list[Finding] = []  # passed by the frontier
        self.seen: list[Finding] = []
        self.frontier = self._before
        self.halted: Finding | None = None

    def feed(self, text: str, final: bool = False) -> None:
        """Take more text; `final` says it was the last. Moves `frontier`, may set `halted`."""
        if self.halted:
            return
        if not self._tracks:
            self._end += len(text)
            self.frontier = self._end
            return
        text = self._word + text
        ready = len(text) if final else len(text.rstrip(_WORD))
        if len(text) - ready > _LONGEST_WORD:
            ready = len(text)
        self._word = text[ready:]
        if ready or final:
            self._open += text[:ready]
            self._end += ready
            self._judge(final)

    def taken(self) -> list[Finding]:
        """The findings since the last call that now stand for good."""
        seen, self.seen = self.seen, []
        return seen

    def touches(self, start: int, end: int) -> bool:
        """Whether the text in [start, end) leaves other than it came."""
        if self.halted and end > self.halted.start:
            return True
        while self._masks and self._masks[0].end <= start:
            del self._masks[0]  # events leave in order: what they have passed is never asked for again
        return bool(self._masks) and self._masks[0].start < end

    def render(self, start: int, text: str) -> str:
        """What leaves of `text`, which stands at `start` and whose end the frontier has reached."""
        end = start + len(text)
        parts = []
        place = start
        for mask in self._masks:
            if mask.end <= place or mask.start >= end:
                continue
            if mask.start >= start:
                parts.append(text[place - start : mask.start - start] + mask.replacement)
            place = max(mask.end, place)
        limit = min(end, self.halted.start) if self.halted else end
        parts.append(text[place - start : max(limit - start, 0)])
        return "".join(parts)

    def _judge(self, final: bool) -> None:
        frontier = end = self._end
        for track in self._tracks:
            if final or track.wake <= end:
                findings = track.judge(self._open, self._base, final)
                if findings:
                    self._pending += self._later(findings) if self._before else findings
            if track.hold < frontier:
                frontier = max(track.hold, self._before)
        if self._pending:
            frontier = self._settle(frontier, final)
        self.frontier = frontier
        if len(self._open) > 2 * CONTEXT:
            self._trim()

    def _later(self, findings: list[Finding]) -> list[Finding]:
        """Of findings that reach back into what has left, the part that can still be acted on."""
        return [replace(f, start=max(f.start, self._before)) for f in findings if f.end > self._before]

    def _settle(self, frontier: int, final: bool) -> int:
        self._pending.sort(key=_order)
        halting = next((f for f in self._pending if f.verdict is Verdict.BLOCK), None)
        if halting and (halting.start < frontier or final):
            self.halted = halting
            return self._pass(halting.start, [halting])
        if final:
            return self._pass(frontier + 1, []) - 1
        for finding in reversed(self._pending):
            if finding.verdict is Verdict.MASK and finding.start < frontier < finding.end:
                frontier = finding.start
        return self._pass(frontier, [])

    def _pass(self, frontier: int, last: list[Finding]) -> int:
        passed = [f for f in self._pending if f.start < frontier] + last
        self._pending = [f for f in self._pending if f.start >= frontier]
        self.seen += passed
        self._masks += _merged(f for f in passed if f.verdict is Verdict.MASK)
        return frontier

    def _trim(self) -> None:
        keep = min([self.frontier, *(track.needs(self._end) for track in self._tracks)]) - CONTEXT
        if keep > self._base:
            self._open = self._open[keep - self._base :]
            self._base = keep


def _merged(masks: Iterable[Finding]) -> list[Finding]:
    """Overlapping masks become one, with the words of the first."""
    merged: list[Finding] = []
    for mask in masks:
        if merged and mask.start < merged[-1].end:
            first = merged.pop()
            mask = replace(first, end=max(first.end, mask.end))
        merged.append(mask)
    return merged
