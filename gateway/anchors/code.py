"""`type: code`: inside code, after a line that ends a statement."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from gateway.anchors import AnchorSpec, Closed, Marks, Reader, Tape
from gateway.anchors._fences import Fence, step
from gateway.anchors._ledger import Ledger
from gateway.anchors._statements import Statements, family
from gateway.types import NEVER

_IN_CODE = frozenset({"json"})


class Plug(AnchorSpec):
    """Offers the end of a line, outside of strings, comments and brackets; all else inside code is closed to others."""

    type: Literal["code"] = "code"
    where: Literal["fence", "all"] = Field(
        default="fence", description="fence: in the code blocks of a Markdown text. all: the whole text is code."
    )
    language: str = Field(
        default="", description="Of code whose block doesn't name one; empty: unknown.", examples=["python"]
    )

    def reader(self) -> Reader:
        return _Reader(self.language, fenced=self.where == "fence")


class _Reader:
    """Takes whole lines as they end."""

    def __init__(self, language: str, *, fenced: bool) -> None:
        self._language = language
        self._fenced = fenced
        self._ledger = Ledger()
        self._at = 0  # where the open line begins
        self._line = ""
        self._fence: Fence | None = None
        self._began = 0
        self._code = None if fenced else Statements(family(language))

    def feed(self, text: str) -> None:
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            start, self._at = self._at, self._at + len(line) + 1
            if self._fenced:
                self._in_prose(start, line + "\n")
            elif self._code and self._code.line(line.rstrip("\r")):
                self._ledger.offer(self._at)

    def forget(self, before: int) -> None:
        self._ledger.forget(before)

    def marks(self, tape: Tape, low: int, high: int) -> Marks:
        said = self._ledger.marks(low, high)
        if self._code:
            return Marks(said.offers, [*said.closed, Closed(self._began, NEVER, _IN_CODE)])
        return said

    def _in_prose(self, start: int, line: str) -> None:
        was, self._fence = self._fence, step(self._fence, line)
        if not was and self._fence:
            self._began = start
            self._code = Statements(family(self._fence.language or self._language))
            self._ledger.offer(self._at)
        elif was and not self._fence:
            self._code = None
            self._ledger.close(Closed(self._began, self._at, _IN_CODE))
        elif self._code and self._code.line(line.rstrip("\r\n")):
            self._ledger.offer(self._at)
