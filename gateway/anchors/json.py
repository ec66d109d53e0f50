"""`type: json`: inside JSON, where what is kept can still become valid JSON, whatever is written next.

The value may be the whole answer, stand in a code block, or begin any line of a prose answer. `closing(prefix)` gives
the shortest text that completes what was kept, for those who would rather drop the rest than resume.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from gateway.anchors import AnchorSpec, Closed, Marks, Reader, Tape
from gateway.anchors._ledger import Ledger
from gateway.anchors._machine import Machine, Mode, closing
from gateway.types import NEVER

__all__ = ["Plug", "closing"]


class Plug(AnchorSpec):
    """Offers the end of each value and each opened bracket; all else inside JSON is closed to others."""

    type: Literal["json"] = "json"
    mode: Literal["value", "word"] = Field(
        default="value", description="word: also after words inside strings (not keys), so that less is thrown away."
    )
    whole: bool = Field(
        default=False,
        description="The text is one JSON value and nothing else, such as the arguments of a tool call. Otherwise "
        "values are objects and arrays that begin a line.",
    )

    def reader(self) -> Reader:
        return _Reader(words=self.mode == "word", whole=self.whole)


class _Reader:
    """Outside of JSON, inside (`machine`), or lost: behind what is no JSON any more, nothing is safe."""

    def __init__(self, *, words: bool, whole: bool) -> None:
        self._ledger = Ledger()
        self._words = words
        self._whole = whole
        self._at = 0  # of the whole text: where the piece begins that is being read
        self._fresh = True  # nothing but blanks on this line
        self._machine: Machine | None = Machine(words=words) if whole else None
        self._began = 0
        self._lost = False

    def feed(self, text: str) -> None:
        at = 0
        while at < len(text) and not self._lost:
            at = self._inside(self._machine, text, at) if self._machine else self._outside(text, at)
        self._at += len(text)

    def forget(self, before: int) -> None:
        self._settle()
        self._ledger.forget(before)

    def marks(self, tape: Tape, low: int, high: int) -> Marks:
        self._settle()
        said = self._ledger.marks(low, high)
        if self._machine or self._lost:
            return Marks(said.offers, [*said.closed, Closed(self._began, NEVER)])
        return said

    def _settle(self) -> None:
        """Take over what the machine offers. A lone bracket may yet turn out to be no JSON."""
        if self._machine and (self._machine.told or self._whole):
            for position in self._machine.marks:
                self._ledger.offer(position)
            self._machine.marks = []

    def _outside(self, text: str, at: int) -> int:
        if self._fresh:
            if text[at] in " \t\r":
                return at + 1
            if text[at] in "{[":
                self._began = self._at + at
                self._machine = Machine(self._began, words=self._words)
                return at
            self._fresh = False
        end = text.find("\n", at)
        self._fresh = end >= 0
        return end + 1 if end >= 0 else len(text)

    def _inside(self, machine: Machine, text: str, at: int) -> int:
        at = machine.feed(text, at)
        if not machine.done:
            return at
        self._settle()
        self._fresh = False
        if machine.mode is Mode.BROKEN:
            self._lost = machine.told or self._whole
        else:
            self._ledger.close(Closed(self._began, self._at + at))
            self._lost = self._whole
            self._began = self._at + at if self._whole else self._began
        self._machine = None
        return at
