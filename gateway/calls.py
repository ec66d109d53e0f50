"""The arguments of a tool call: JSON in a string, so its words can hide behind escapes. Judged whole and decoded."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import orjson

from gateway.judge import Lane, silent
from gateway.types import NEVER, Action, Finding, Verdict
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
        self._pardons: dict[str, Action] = {}  # rules whose findings mean less than they say
        self.frontier = 0
        self.halted: Finding | None = None
        self.limit = NEVER  # 0 once the call was dropped

    def feed(self, text: str, final: bool = False) -> None:
        self._parts.append(text)
        if final:
            self._end()

    def _end(self) -> None:
        whole = "".join(self._parts)
        if self._lanes:
            self._judge(whole)
        self.frontier = 0 if self.halted else len(whole)

    def drop(self) -> None:
        """Nothing of it was ever said; of what was found only what halted it is told."""
        self.seen = [finding for finding in self.seen if finding is self.halted]
        self.halted, self.limit = None, 0

    def pardon(self, action: Action, _final: bool) -> None:
        """What halted it is taken for less than that, wherever its rule finds something in it."""
        assert self.halted is not None, "only what was halted can be pardoned"
        self._pardons[self.halted.rule] = action
        self.halted, self._masked, self.seen = None, None, []
        self._end()

    def last(self, _count: int) -> str:
        """Nothing: what goes on behind a call is a call of its own."""
        return ""

    def taken(self) -> list[Finding]:
        seen, self.seen = self.seen, []
        return seen

    def touches(self, _start: int, _end: int) -> bool:
        return self.halted is not None or self._masked is not None or not self.limit

    def render(self, start: int, text: str) -> str:
        if self.halted or not self.limit:
            return ""
        if self._masked is None:
            return text
        return "" if start else self._masked

    def _judge(self, whole: str) -> None:
        """As it stands, with its escapes undone, and text by text: a client may read it in any of these ways."""
        self._look(whole)
        plain = self._look(_unescaped(whole))
        try:
            clean = orjson.dumps(self._clean(orjson.loads(whole))).decode()
        except (orjson.JSONDecodeError, RecursionError, TypeError):
            clean = plain  # no JSON to us; it may be some to the client
        if any(finding.verdict is Verdict.MASK for finding in self.seen):
            self._masked = clean

    def _clean(self, value: Any) -> Any:
        """The value with what is masked masked, in keys and numbers too."""
        if isinstance(value, str):
            return self._look(value)
        if isinstance(value, dict):
            return {self._look(key): self._clean(inner) for key, inner in value.items()}
        if isinstance(value, list):
            return [self._clean(inner) for inner in value]
        if isinstance(value, int | float) and not isinstance(value, bool):
            masked = self._look(str(value))
            return value if masked == str(value) else masked
        return value

    def _look(self, text: str) -> str:
        """What may leave of one text."""
        if silent(self._lanes, text):
            return text
        window = Window(self._lanes)
        window.feed(text, final=True)
        while window.halted and (pardon := self._pardons.get(window.halted.rule)):
            window.pardon(pardon, final=True)
        self.seen += [finding for finding in window.taken() if finding not in self.seen]
        self.halted = self.halted or window.halted
        return window.render(0, text)


def _unescaped(raw: str) -> str:
    """The text with JSON's escapes undone, whatever else is wrong with it."""
    plain = _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else _SHORT.get(found[2], found[2]), raw)
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
