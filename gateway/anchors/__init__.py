"""Anchors: the positions at which a draft can be cut, so that a model goes on from there as if nothing had happened.

A kind of anchor is one file with a class `Plug(AnchorSpec)`. It offers positions, and closes stretches to the other
kinds: a sentence that ends inside a code fence is no place to cut at. The best cut is the last position that somebody
offers and nobody closes.

Laws, for every kind:
- no cut lies before the frontier, none behind where it was asked for;
- no cut splits a character that a reader sees as one: combining marks, joined emoji, CR LF, halves of pairs;
- a position is offered once what stands behind it is known to leave it one: text that follows never takes it back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from gateway.anchors._edges import joined
from gateway.anchors._marks import Ballot, Closed, Marks, Tape
from gateway.plug import Strict

REACH = 4096  # characters before a finding that are looked through first; the rest only if they hold no anchor
CONTEXT = 1024  # characters kept before what may still be cut, for kinds that look back
FRONTIER = "frontier"

__all__ = ["FRONTIER", "AnchorSpec", "Closed", "Cut", "LocalSpec", "Marks", "Reader", "Tape", "Trail", "choose"]


class Cut(NamedTuple):
    """Where to cut: keep text[:position]. `kind` is what offers it, `frontier` if nothing later is safe."""

    position: int
    kind: str


class Reader(Protocol):
    """Follows one text as it grows. Each character is fed once, in order."""

    def feed(self, text: str) -> None: ...

    def marks(self, tape: Tape, low: int, high: int) -> Marks:
        """What is offered in [low, high], and all that is closed there. Positions outside may be named as well."""
        ...

    def forget(self, before: int) -> None:
        """Nothing before this position will be asked about again."""
        ...


class AnchorSpec(Strict, ABC):
    """What a rule names in its list of anchors."""

    type: str

    @abstractmethod
    def reader(self) -> Reader:
        """Follows a new text."""

    def before(self, tape: Tape, position: int) -> int:
        """Where an error seen at `position` began: there, or earlier. Positions of the whole text."""
        return position

    def anchors(self, text: str, begin: int, end: int) -> Sequence[int]:
        """All positions in [begin, end] that this kind offers by itself, ascending."""
        reader = self.reader()
        reader.feed(text)
        offers = reader.marks(Tape(text), begin, end).offers
        return [p for p in offers if begin <= p <= end and not joined(text, p)]

    def last(self, text: str, upto: int, frontier: int) -> int | None:
        """The last of them in [frontier, upto], None if there is none."""
        cut = choose([self], text, upto, frontier)
        return None if cut.kind == FRONTIER else cut.position


class LocalSpec(AnchorSpec):
    """A kind that can tell from what stands around a position, and so keeps no state."""

    def reader(self) -> Reader:
        return _Local(self)

    @abstractmethod
    def look(self, text: str, low: int, high: int) -> Marks:
        """What is offered and closed in [low, high] of `text`; as positions of `text`."""


class _Local:
    def __init__(self, kind: LocalSpec) -> None:
        self._kind = kind

    def feed(self, text: str) -> None:
        """The tape has it."""

    def forget(self, before: int) -> None:
        """The tape forgets it."""

    def marks(self, tape: Tape, low: int, high: int) -> Marks:
        base = tape.base
        said = self._kind.look(tape.text, low - base, high - base)
        if not base:
            return said
        closed = [Closed(start + base, end + base, yields) for start, end, yields in said.closed]
        return Marks([p + base for p in said.offers], closed)


class Trail:
    """Where a text that is still growing may be cut.

    Feeding costs one pass; asking costs what lies between the frontier and the question, and the open paragraph.
    Memory is what has not been forgotten.
    """

    def __init__(self, anchors: Sequence[AnchorSpec]) -> None:
        self._anchors = anchors
        self._kinds = [anchor.type for anchor in anchors]
        self._readers = [anchor.reader() for anchor in anchors]
        self._tape = Tape("")

    def feed(self, text: str) -> None:
        """Take more text."""
        self._tape = self._tape._replace(text=self._tape.text + text)
        for reader in self._readers:
            reader.feed(text)

    def cut(self, upto: int, frontier: int) -> Cut:
        """The last safe cut in [frontier, upto]; at the frontier itself if there is none."""
        upto = self._began(upto)
        near = max(frontier, upto - REACH)
        for low in (near, frontier) if near > frontier else (frontier,):
            found = self._last(low, upto) if low <= upto else None
            if found:
                return found
        return Cut(frontier, FRONTIER)

    def forget(self, frontier: int) -> None:
        """No cut before this position will be asked for."""
        text, base = self._tape
        keep = frontier - CONTEXT
        if keep - base > CONTEXT:  # not at each word: it copies what is kept
            self._tape = Tape(text[keep - base :], keep)
        for reader in self._readers:
            reader.forget(frontier)

    def _began(self, upto: int) -> int:
        """Terms may overlap, so going back to the start of one can end inside another."""
        while (earlier := min((a.before(self._tape, upto) for a in self._anchors), default=upto)) < upto:
            upto = earlier
        return upto

    def _last(self, low: int, high: int) -> Cut | None:
        text, base = self._tape
        ballot = Ballot(self._kinds, [reader.marks(self._tape, low, high) for reader in self._readers])
        for position in ballot.positions(low, high):
            kind = ballot.kind(position)
            if kind and not joined(text, position - base):
                return Cut(position, kind)
        return None


def choose(anchors: Sequence[AnchorSpec], text: str, upto: int, frontier: int) -> Cut:
    """The last safe cut of a text in [frontier, upto], in time that grows with the text alone."""
    trail = Trail(anchors)
    trail.feed(text)
    return trail.cut(upto, frontier)
