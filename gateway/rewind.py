"""What a rewinding rule means for one answer, and how the events of a later call become part of it. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import orjson

from gateway.anchors import AnchorSpec
from gateway.outbox import parsed
from gateway.relay import Rewinds
from gateway.rules import Rule
from gateway.surfaces import Surface, sse
from gateway.types import Action, Draft, Finding, Usage

Way = Literal["continue", "instruct"]

SEAM = 200  # characters of what was said that a continuation may say again


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
    """Takes off the beginning of a continuation what it says again: a model that is told to go on may repeat itself."""

    def __init__(self, kept: str) -> None:
        self._kept = kept[-SEAM:]
        self._begun = ""
        self.closed = not kept

    def feed(self, text: str, final: bool) -> str:
        """What goes on of the text; nothing until it is known where that begins."""
        if self.closed:
            return text
        self._begun += text
        if not final and len(self._begun) < SEAM and self._kept.startswith(self._begun[:1]) and self._open():
            return ""
        self.closed = True
        return self._begun[self._overlap() :]

    def _open(self) -> bool:
        """Whether what has come could still be part of what was said."""
        return self._begun in self._kept

    def _overlap(self) -> int:
        longest = min(len(self._kept), len(self._begun))
        return next((n for n in range(longest, 0, -1) if self._kept.endswith(self._begun[:n])), 0)


class Stitch:
    """Later calls' events, told as if the first had gone on: its id, its choice, and usage that is true of all."""

    def __init__(self, surface: Surface, head: Mapping[str, Any], choice: int, draft: Draft, seam: Seam | None) -> None:
        self._surface, self._head, self._choice, self._draft, self._seam = surface, head, choice, draft, seam
        self._before = draft.usage

    def frames(self, frames: Sequence[sse.Frame]) -> list[sse.Frame]:
        """The same events, as the client may know them."""
        return [frame for data in map(_data, frames) if (frame := self._told(data)) is not None]

    def _told(self, data: dict[str, Any]) -> sse.Frame | None:
        if not data.get("error"):
            self._surface.resumed(data, self._head, self._choice)
            if self._seam is not None and not self._seam.closed:
                self._join(data)
            self._reckon(data)
        payload = orjson.dumps(data)
        return sse.Frame(sse.frame(payload), payload)

    def _join(self, data: dict[str, Any]) -> None:
        assert self._seam is not None
        reading = self._surface.read(data)
        texts = {
            (piece.choice, piece.channel): self._seam.feed(piece.text, bool(reading.ends))
            for piece in reading.pieces
            if piece.channel == self._surface.answer
        }
        if texts:
            self._surface.rewrite(data, texts, {})

    def _reckon(self, data: dict[str, Any]) -> None:
        """What the client used: its prompt once, all tokens of its answer, and beside it what was cut away."""
        said = self._surface.read(data).usage
        if said is None:
            return
        mine = [attempt for attempt in self._draft.attempts if attempt.choice == self._choice]
        kept, wasted = sum(a.kept for a in mine), sum(a.wasted for a in self._draft.attempts)
        if self._before is not None:  # the other choices have told theirs, with what this one lost among it
            lost = mine[-1].wasted if mine else 0
            whole = Usage(self._before.prompt, max(self._before.completion - lost, 0) + said.completion)
        else:
            whole = Usage(max(said.prompt - kept, 0), said.completion + min(kept, said.prompt))
        self._surface.reckoned(data, whole, len(self._draft.attempts) + 1, wasted)


def _data(frame: sse.Frame) -> dict[str, Any]:
    return parsed(frame.data)
