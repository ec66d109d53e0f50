"""Runs inside a paragraph that must stay whole: inline code, links, emphasis.

A reading of Markdown that is simpler than the standard and errs to the safe side: what has been opened counts as open
until it is closed or the paragraph ends. Linear in the paragraph.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import ClassVar

from gateway.anchors._marks import Closed
from gateway.types import NEVER

_TOKEN = re.compile(r"\\.|`+|!?\[|\]|\*+|_+|~~+", re.DOTALL)
_TICKS = re.compile("`+")
_ADDRESS = re.compile(r"[()\n]")
_LONGEST_ADDRESS = 2048


def runs(text: str, ended: bool) -> Iterator[Closed]:
    """The stretches of a paragraph that may not be cut; those that are still open never end."""
    return Inline(text, ended).read()


class Inline:
    """Reads one paragraph, once."""

    def __init__(self, text: str, ended: bool) -> None:
        self._text = text
        self._ended = ended  # nothing will be added
        self._at = 0  # what stands before has been read as part of a run
        self._ticks: dict[int, list[int]] = {}
        for found in _TICKS.finditer(text):
            self._ticks.setdefault(len(found[0]), []).append(found.start())
        self._brackets: list[int] = []
        self._opened: dict[str, list[list[int]]] = {"*": [], "_": [], "~": []}  # position, marks left

    def read(self) -> Iterator[Closed]:
        for token in _TOKEN.finditer(self._text):
            if token.start() >= self._at:
                yield from self._readers[token[0][0]](self, token)
        if not self._ended:
            begun = [*self._brackets, *(opened[0] for stack in self._opened.values() for opened in stack)]
            if begun:
                yield Closed(min(begun), NEVER)

    def _run(self, start: int, end: int) -> Iterator[Closed]:
        self._at = end
        yield Closed(start, end)

    def _escape(self, token: re.Match[str]) -> Iterator[Closed]:
        yield from ()

    def _code(self, token: re.Match[str]) -> Iterator[Closed]:
        places = self._ticks.get(len(token[0]), [])
        closing = bisect_right(places, token.start())
        if closing < len(places):
            yield from self._run(token.start(), places[closing] + len(token[0]))
        elif not self._ended:
            yield from self._run(token.start(), NEVER)

    def _open_bracket(self, token: re.Match[str]) -> Iterator[Closed]:
        self._brackets.append(token.start())
        yield from ()

    def _close_bracket(self, token: re.Match[str]) -> Iterator[Closed]:
        if not self._brackets:
            return
        start = self._brackets.pop()
        behind = self._text[token.end() : token.end() + 1]
        if behind == "(":
            yield from self._run(start, self._address(token.end()))
        elif not behind and not self._ended:
            yield from self._run(start, NEVER)
        elif behind == "[":
            label = self._text.find("]", token.end())
            if label >= 0 or not self._ended:
                yield from self._run(start, label + 1 if label >= 0 else NEVER)

    def _address(self, at: int) -> int:
        """Where a link's address ends that begins at `at`: with its bracket, else with the line."""
        depth = 0
        limit = at + _LONGEST_ADDRESS
        for found in _ADDRESS.finditer(self._text, at, limit):
            depth += {"(": 1, ")": -1, "\n": 0}[found[0]]
            if depth == 0 or found[0] == "\n":
                return found.end()
        return NEVER if limit >= len(self._text) and not self._ended else min(limit, len(self._text))

    def _emphasis(self, token: re.Match[str]) -> Iterator[Closed]:
        start = token.start()
        before = self._text[start - 1 : start] if start else ""
        behind = self._text[token.end() : token.end() + 1]
        closes = bool(before) and not before.isspace()
        opens = not behind.isspace() if behind else not self._ended
        if token[0][0] == "_":
            closes, opens = closes and not behind.isalnum(), opens and not before.isalnum()
        stack, left = self._opened[token[0][0]], len(token[0])
        while closes and left and stack:
            opened = stack[-1]
            taken = min(left, opened[1])
            left, opened[1] = left - taken, opened[1] - taken
            if not opened[1]:
                stack.pop()
            yield Closed(opened[0], token.end())
        if left and opens:
            stack.append([token.start(), left])

    _readers: ClassVar[dict[str, Callable[[Inline, re.Match[str]], Iterator[Closed]]]] = {
        "\\": _escape,
        "`": _code,
        "[": _open_bracket,
        "!": _open_bracket,
        "]": _close_bracket,
        "*": _emphasis,
        "_": _emphasis,
        "~": _emphasis,
    }
