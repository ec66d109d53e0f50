"""`type: markdown`: between the blocks of a Markdown text, and never inside a run or a block that must stay whole."""

from __future__ import annotations

import re
from typing import Literal

from gateway.anchors import AnchorSpec, Closed, Marks, Reader, Tape
from gateway.anchors._fences import Fence, may_open, step
from gateway.anchors._inline import runs
from gateway.anchors._ledger import Ledger
from gateway.types import NEVER

_HEADING = re.compile(r" {0,3}#{1,6}\s")
_ITEM = re.compile(
    r"[ \t>]*(?:[-*+•]\s|\d{1,9}[.)]\s|\d{1,3}[、．]|[一二三四五六七八九十]{1,3}、|[（(]\d{1,2}[）)]|[①-⑳])"
)
_IN_FENCE = frozenset({"code", "json"})
_IN_RUN = frozenset({"json"})  # an array begins like a link


class Plug(AnchorSpec):
    """Offers the start of a list item, heading or code block, the end of a heading, a table row, a blank line and a
    closed code block. Closed to others: table rows, inline code, links and emphasis, but to json; code blocks, but to
    code and json.
    """

    type: Literal["markdown"] = "markdown"

    def reader(self) -> Reader:
        return _Reader()


class _Reader:
    """Takes whole lines as they end; the open paragraph and the open line are read anew when somebody asks."""

    def __init__(self) -> None:
        self._ledger = Ledger()
        self._at = 0  # where the open line begins
        self._line = ""
        self._paragraph: list[str] = []
        self._paragraph_at = 0
        self._fence: Fence | None = None
        self._fence_at = 0
        self._rows = 0
        self._table_at = 0

    def feed(self, text: str) -> None:
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            start, self._at = self._at, self._at + len(line) + 1
            self._take(start, line + "\n")

    def forget(self, before: int) -> None:
        self._ledger.forget(before)

    def marks(self, tape: Tape, low: int, high: int) -> Marks:
        said = self._ledger.marks(low, high)
        offers, closed = [*said.offers], [*said.closed]
        if self._fence:
            return Marks(offers, [*closed, Closed(self._fence_at, NEVER, _IN_FENCE)])
        line = self._line
        begins_anew = may_open(line) or _begins_block(line) or _is_row(line)
        if begins_anew and not self._rows and self._at and self._at not in offers[-1:]:
            offers.append(self._at)
        if may_open(line):
            closed.append(Closed(self._at, NEVER))
        elif _is_row(line) or self._rows == 1:
            closed.append(Closed(self._table_at if self._rows == 1 else self._at, NEVER))
        paragraph = "".join(self._paragraph)
        closed += _shifted(self._paragraph_at, paragraph if begins_anew else paragraph + line, ended=begins_anew)
        if begins_anew:
            closed += _shifted(self._at, line, ended=False)
        return Marks(offers, closed)

    def _take(self, start: int, line: str) -> None:
        was, self._fence = self._fence, step(self._fence, line)
        if was or self._fence:
            self._in_block(start, was)
        elif not line.strip():
            self._end_paragraph()
            self._ledger.offer(self._at)
        elif _is_row(line):
            self._row(start)
            return
        else:
            heading = _HEADING.match(line)
            if heading or _ITEM.match(line):
                self._end_paragraph()
                self._ledger.offer(start)
            self._add(start, line)
            if heading:
                self._end_paragraph()
                self._ledger.offer(self._at)
        self._rows = 0

    def _in_block(self, start: int, was: Fence | None) -> None:
        if not was:
            self._end_paragraph()
            self._ledger.offer(start)
            self._fence_at = start
        elif not self._fence:
            self._ledger.close(Closed(self._fence_at, self._at, _IN_FENCE))
            self._ledger.offer(self._at)

    def _row(self, start: int) -> None:
        """A table's head and the line under it belong together; each row behind them stands by itself."""
        self._rows += 1
        if self._rows == 1:
            self._end_paragraph()
            self._ledger.offer(start)
            self._table_at = start
            return
        self._ledger.close(Closed(self._table_at if self._rows == 2 else start, self._at))
        self._ledger.offer(self._at)

    def _add(self, start: int, line: str) -> None:
        if not self._paragraph:
            self._paragraph_at = start
        self._paragraph.append(line)

    def _end_paragraph(self) -> None:
        for span in _shifted(self._paragraph_at, "".join(self._paragraph), ended=True):
            self._ledger.close(span)
        self._paragraph = []


def _begins_block(line: str) -> bool:
    return bool(_HEADING.match(line) or _ITEM.match(line))


def _is_row(line: str) -> bool:
    return line.lstrip(" \t>").startswith("|")


def _shifted(base: int, text: str, *, ended: bool) -> list[Closed]:
    return [Closed(start + base, min(end + base, NEVER), _IN_RUN) for start, end, _ in runs(text, ended)]
