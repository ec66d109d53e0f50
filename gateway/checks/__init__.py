"""Checks find: text in, spans out, nothing else. What a finding means is for the rules to say.

A check is one file with a class `Plug(Check)`. All checks of one kind are fused into one scanner, so that a thousand
regular expressions cost one pass.

The scanner's law, on which every stream stands. For a view that is not final, whatever text may follow:
- each hit that starts before `hold` would be found in the whole text too, with the same start and end;
- no other hit of the whole text starts in [begin, hold).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Protocol, Self

from gateway.plug import Strict
from gateway.types import Hit, Scan, View

Active = frozenset[int]


class Scanner(Protocol):
    """Judges a view for all checks of one kind at once; `active` are the ones that matter for this exchange."""

    def scan(self, view: View, active: Active) -> Scan: ...


class Check(Strict, ABC):
    """What a rule names in its `check` field."""

    type: str

    @classmethod
    def fuse(cls, checks: Sequence[Self]) -> Scanner:
        """One scanner for many checks of this kind; a hit's number is the check's place in `checks`."""
        return _EachInTurn(checks)

    @abstractmethod
    def look(self, view: View) -> tuple[list[tuple[int, int]], int]:
        """The spans found in `view`, and the hold, under the scanner's law."""


class _EachInTurn:
    """For checks that are few and different: one after the other."""

    def __init__(self, checks: Sequence[Check]) -> None:
        self._checks = checks

    def scan(self, view: View, active: Active) -> Scan:
        hits: list[Hit] = []
        hold = len(view.text)
        for index in sorted(active):
            spans, held = self._checks[index].look(view)
            hits += [Hit(index, start, end) for start, end in spans]
            hold = min(hold, held)
        return Scan(hits, hold)
