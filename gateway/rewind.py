"""What a rewinding rule means for one answer, and how the events of a later call become part of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from gateway.anchors import AnchorSpec
from gateway.outbox import parsed
from gateway.relay import Rewinds
from gateway.rules import Rule
from gateway.surfaces import Surface, sse
from gateway.types import Action, Draft, Finding, Usage

SEAM = 200  # characters of what was said that a continuation may say again
_STOPS = ".,;:!?"  # a blank follows these before the next word


class Budget:
    """How often one answer may still be cut back."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = {rule.id: rule.rewinding for rule in rules}
        self._used = 0

    @property
    def rewinds(self) -> Rewinds:
        """What a relay needs of it: all anchors that these rules name, and what a finding means."""
        anchors: dict[AnchorSpec, None] = {}
        for rewinding in self._rules.values():
            anchors.update(dict.fromkeys(rewinding.anchors))
        return Rewinds(tuple(anchors), self.meaning)

    def meaning(self, finding: Finding) -> Action:
        """REWIND, which is then spent, or what the rule says instead."""
        rewinding = self._rules[finding.rule]
        if self._used >= rewinding.budget:
            return Action(rewinding.otherwise)
        self._used += 1
        return Action.REWIND


class Seam:
    """Where a model was only told to go on: it may say again what it had said last, and begins without a blank."""

    def __init__(self, kept: str) -> None:
        self._kept = kept[-SEAM:]
        self._begun = ""
        self.closed = not kept

    def feed(self, text: str, final: bool) -> str:
        """What goes on of the text; nothing until it is known where that begins."""
        if self.closed:
            return text
        self._begun += text
        if not final and self._begun in self._kept:
            return ""
        self.closed = True
        rest = self._begun[self._overlap() :]
        return f" {rest}" if self._runs_together(rest) else rest

    def _overlap(self) -> int:
        longest = min(len(self._kept), len(self._begun))
        return next((n for n in range(longest, 0, -1) if self._is_said_again(n)), 0)

    def _is_said_again(self, count: int) -> bool:
        """Whether its first characters are the last that were kept: whole words. One character may come twice."""
        again, before = self._begun[:count], self._kept[:-count]
        if not self._kept.endswith(again) or (count == 1 and not again.isascii()):
            return False
        return not _splits(before, again) and not _splits(again, self._begun[count:])

    def _runs_together(self, rest: str) -> bool:
        return _splits(self._kept, rest) or (self._kept[-1] in _STOPS and rest[:1].isascii() and rest[:1].isalpha())


class Stitch:
    """Later calls' events, told as if the first had gone on: its id, its choice, and usage that is true of all."""

    def __init__(
        self, surface: Surface, head: Mapping[str, Any], choice: int, draft: Draft, others: int, seam: Seam | None
    ) -> None:
        """`others`: tokens of the other choices. Without a seam a call goes on exactly where the answer was cut."""
        self._surface, self._head, self._choice, self._draft, self._seam = surface, head, choice, draft, seam
        self._others, self._before = others, draft.usage

    def frames(self, frames: Sequence[sse.Frame]) -> list[sse.Frame]:
        """The same events, as the client may know them."""
        return [frame for data in map(_data, frames) if (frame := self._told(data)) is not None]

    def _told(self, data: dict[str, Any]) -> sse.Frame | None:
        if not data.get("error"):
            self._surface.resumed(data, self._head, self._choice)
            if self._seam is not None and not self._seam.closed:
                self._join(data, self._seam)
            self._reckon(data)
        payload = orjson.dumps(data)
        return sse.Frame(sse.frame(payload), payload)

    def _join(self, data: dict[str, Any], seam: Seam) -> None:
        reading = self._surface.read(data)
        final = bool(reading.ends)
        texts = {
            (piece.choice, piece.channel): seam.feed(piece.text, final)
            for piece in reading.pieces
            if piece.channel == self._surface.answer
        }
        if texts:
            self._surface.rewrite(data, texts, {})
        elif final and (rest := seam.feed("", final)):
            self._surface.append(data, self._choice, rest)

    def _reckon(self, data: dict[str, Any]) -> None:
        """What the client used: its prompt once, all tokens of its answer, and beside it what was cut away."""
        said = self._surface.read(data).usage
        if said is None:
            return
        attempts = self._draft.attempts
        mine = [attempt for attempt in attempts if attempt.choice == self._choice]
        prompt = max(said.prompt - sum(one.kept for one in mine), 0)  # the call was told again what is kept
        prompt = self._before.prompt if self._before is not None else prompt
        whole = Usage(prompt, self._others + sum(one.stands for one in mine) + said.completion)
        self._surface.reckoned(data, whole, len(attempts) + 1, sum(one.wasted for one in attempts))


def _splits(before: str, behind: str) -> bool:
    """Whether a seam here would run through a word, in scripts that part them by blanks."""
    ends, begins = before[-1:], behind[:1]
    return (ends + begins).isascii() and ends.isalnum() and begins.isalnum()


def _data(frame: sse.Frame) -> dict[str, Any]:
    return parsed(frame.data)
