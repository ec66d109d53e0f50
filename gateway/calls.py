"""The arguments of a tool call: JSON in a string, so its words can hide behind escapes. Judged whole and decoded."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import orjson

from gateway import leaves
from gateway.judge import Lane
from gateway.types import Finding, Verdict
from gateway.window import Window

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_SHORT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


class CallWindow:
    """Like a Window, but nothing leaves before the call is complete; each decoded text inside is judged by itself."""

    def __init__(self, lanes: Iterable[Lane]) -> None:
        self._lanes = tuple(lanes)
        self._parts: list[str] = []
        self.seen: list[Finding] = []
        self._masked: str | None = None
        self.frontier = 0
        self.halted: Finding | None = None

    def feed(self, text: str, final: bool = False) -> None:
        self._parts.append(text)
        if final:
            whole = "".join(self._parts)
            if self._lanes:
                self._judge(whole)
            self.frontier = 0 if self.halted else len(whole)

    def taken(self) -> list[Finding]:
        seen, self.seen = self.seen, []
        return seen

    def touches(self, _start: int, _end: int) -> bool:
        return self.halted is not None or self._masked is not None

    def render(self, start: int, text: str) -> str:
        if self.halted:
            return ""
        if self._masked is None:
            return text
        return "" if start else self._masked

    def _judge(self, whole: str) -> None:
        self._one(whole)
        masked_raw = any(finding.verdict is Verdict.MASK for finding in self.seen)
        try:
            value: Any = orjson.loads(whole)
            inside = list(leaves.texts(value))
        except (orjson.JSONDecodeError, RecursionError):
            self._judge_unread(_unescaped(whole))
            return
        for key in leaves.keys(value):
            self._one(key)
        masked = value
        for path, text in inside:
            masked = leaves.replaced(masked, path, self._one(text))
        if masked_raw or masked != value:
            self._masked = orjson.dumps(masked).decode()

    def _judge_unread(self, plain: str) -> None:
        """What is no JSON to us may be some to the client."""
        self._one(plain)
        if any(finding.verdict is Verdict.MASK for finding in self.seen):
            self._masked = self._one(plain, again=True)

    def _one(self, text: str, again: bool = False) -> str:
        window = Window(self._lanes)
        window.feed(text, final=True)
        if not again:
            self.seen += [finding for finding in window.taken() if finding not in self.seen]
        self.halted = self.halted or window.halted
        return window.render(0, text)


def _unescaped(raw: str) -> str:
    """The text with JSON's escapes undone, whatever else is wrong with it."""
    plain = _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else _SHORT.get(found[2], found[2]), raw)
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
