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
from gateway.rules import BROKEN
from gateway.types import NEVER, Action, Finding, Verdict

CONTEXT = 2048  # judged characters kept, for checks that look back
_WORD = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LONGEST_WORD = 64

_order = attrgetter("start", "rule")  # a total one: it must not matter which of two lanes was sure first


class Window:
    """Judges one channel of one choice as it streams."""

    __slots__ = (
        "_base",
        "_before",
        "_cut",
        "_end",
        "_masks",
        "_open",
        "_pending",
        "_told",
        "_tracks",
        "_uncut",
        "_word",
        "frontier",
        "halted",
        "limit",
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
        self._uncut: list[Finding] = []  # what watching rules had seen when the text was halted
        self._cut: list[Finding] = []  # and what they see of a text that ends there
        self._told: list[Finding] = []  # what watching rules have said of the text that is still here
        self.seen: list[Finding] = []
        self.frontier = self._before
        self.halted: Finding | None = None
        self.limit = NEVER  # where the text was cut back to; nothing behind leaves

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

    def note(self, finding: Finding) -> None:
        """Somebody else has found this in text that is taken next."""
        self._pending.append(finding)

    def last(self, count: int) -> str:
        """The last characters judged, as far as there are any and rules ask for them."""
        kept = self._open if self.limit is NEVER else self._open[: max(self.limit - self._base, 0)]
        return kept[-count:]

    def cut(self, position: int) -> None:
        """What halted the text is undone: it ends at `position`, at or behind the frontier, and goes on elsewhere."""
        self.halted, self.limit = None, position
        self.frontier = position

    def pardon(self, action: Action, final: bool) -> None:
        """What has just halted the text is taken for less than that, and it goes on as if it had never been."""
        halted, self.halted = self.halted, None
        gone = {id(finding) for finding in self._cut}
        seen = [replace(f, action=action) if f is halted else f for f in self.seen]
        self.seen = [f for f in seen if id(f) not in gone]
        self._told = [f for f in self._told if id(f) not in gone]
        self._pending = [f for f in self._pending if f is not halted and id(f) not in gone] + self._uncut
        # All of it was judged before it halted: to ask again would find again what stands at its end.
        frontier = min([self._end, *(max(track.hold, self._before) for track in self._tracks)])
        self.frontier = self._settle(frontier, final)

    def taken(self) -> list[Finding]:
        """The findings since the last call that now stand for good."""
        seen, self.seen = self.seen, []
        return seen

    def touches(self, start: int, end: int) -> bool:
        """Whether the text in [start, end) leaves other than it came."""
        if end > self.limit:
            return True
        if self.halted and end > self.halted.start:
            return True
        while self._masks and self._masks[0].end <= start:
            del self._masks[0]  # events leave in order: what they have passed is never asked for again
        return bool(self._masks) and self._masks[0].start < end

    def render(self, start: int, text: str) -> str:
        """What leaves of `text`, which stands at `start` and whose end the frontier has reached."""
        end = min(start + len(text), self.limit, self.halted.start if self.halted else NEVER)
        parts = []
        place = start
        for mask in self._masks:
            if mask.end <= place or mask.start >= end:
                continue
            if mask.start >= start:
                parts.append(text[place - start : mask.start - start] + mask.replacement)
            place = max(mask.end, place)
        parts.append(text[place - start : max(end - start, 0)])
        return "".join(parts)

    def _judge(self, final: bool) -> None:
        frontier = end = self._end
        for track in self._tracks:
            if track.wake <= end or (final and track.at_end):
                findings = track.judge(self._open, self._base, final)
                if findings:
                    self._pending += [self._timely(f) for f in findings if f.end > self._before or not self._before]
            if track.hold < frontier:
                frontier = max(track.hold, self._before)
        if self._pending:
            frontier = self._settle(frontier, final)
        self.frontier = frontier
        if len(self._open) > 2 * CONTEXT:
            self._trim()

    def _timely(self, finding: Finding) -> Finding:
        """Of a finding that reaches back into what has left, the part that can still be acted on."""
        if finding.start >= self.frontier or not finding.action.holds:
            return finding
        return replace(finding, start=self.frontier, end=max(finding.end, self.frontier))

    def _settle(self, frontier: int, final: bool) -> int:
        self._pending.sort(key=_order)
        halting = next((f for f in self._pending if f.verdict >= Verdict.REWIND), None)
        if halting and (halting.start < frontier or final):
            return self._halt(halting)
        if not final:
            for finding in reversed(self._pending):
                if finding.verdict is Verdict.MASK and finding.start < frontier < finding.end:
                    frontier = finding.start
        self._pass(frontier, final)
        return frontier

    def _halt(self, halting: Finding) -> int:
        """The text ends where the finding begins. Rules that watch are asked about just that, whatever came behind."""
        cut = halting.start
        acting = [f for f in self._pending if f.action.holds or f.reason == BROKEN]
        self._uncut = [f for f in self._pending if not f.action.holds and f.reason != BROKEN]
        kept = self._open[: cut - self._base]
        self._cut = [f for track in self._tracks for f in track.watched(kept, self._base) if self._is_news(f)]
        self._pending = sorted([*acting, *self._cut], key=_order)
        self._pass(cut, final=False)
        self.halted = halting
        self.seen.append(halting)
        return cut

    def _is_news(self, finding: Finding) -> bool:
        return not any(f.rule == finding.rule and finding.start < f.end and f.start < finding.end for f in self._told)

    def _pass(self, frontier: int, final: bool) -> None:
        """What the frontier has passed is told: an acting rule's finding by its start, a watching one's by its end."""
        passed: list[Finding] = []
        waiting: list[Finding] = []
        for finding in self._pending:
            past = finding.start < frontier if finding.action.holds else finding.end <= frontier
            (passed if past or final else waiting).append(finding)
        self._pending = waiting
        self.seen += passed
        self._masks += _merged(f for f in passed if f.verdict is Verdict.MASK)
        self._told += [f for f in passed if not f.action.holds]

    def _trim(self) -> None:
        keep = min([self.frontier, *(track.needs(self._end) for track in self._tracks)]) - CONTEXT
        if keep > self._base:
            self._open = self._open[keep - self._base :]
            self._base = keep
            self._told = [f for f in self._told if f.end > keep]


def _merged(masks: Iterable[Finding]) -> list[Finding]:
    """Overlapping masks become one, with the words of the first."""
    merged: list[Finding] = []
    for mask in masks:
        if merged and mask.start < merged[-1].end:
            first = merged.pop()
            mask = replace(first, end=max(first.end, mask.end))
        merged.append(mask)
    return merged
