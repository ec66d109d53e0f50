"""Checks find: text in, spans out, nothing else. What a finding means is for the rules to say.

A check is one file with a class `Plug(Check)`. All checks of one kind are fused into one scanner, so that a thousand
regular expressions cost one pass.

The scanner's law, on which every stream stands. For a view that is not final, whatever text may follow, and for each
check with its own hold (where it says it is alive, else the end of the view):
- each hit that starts before the hold would be found in the whole text too, with the same start and end;
- no other hit of the whole text starts in [begin, hold).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Protocol, TypeAlias

from gateway.plug import Strict
from gateway.types import NEVER, Hit, Scan, View

Active = frozenset[int]
CheckClass: TypeAlias = "type[Check]"


class Scanner(Protocol):
    """Judges a view for all checks of one kind at once; `active` are the ones that matter for this exchange."""

    def scan(self, view: View, active: Active) -> Scan: ...


class Check(Strict, ABC):
    """What a rule names in its `check` field."""

    type: str

    at_end: ClassVar[bool] = True  # whether the end of a text can tell anything that its last characters did not

    @classmethod
    def family(cls) -> CheckClass:
        """The class whose `fuse` takes checks of this kind: kinds of one family share a scanner."""
        return cls

    @classmethod
    def fuse(cls, checks: Sequence[Any]) -> Scanner:
        """One scanner for many checks of this family; a hit's number is the check's place in `checks`."""
        return _EachInTurn(checks)

    @abstractmethod
    def look(self, view: View) -> tuple[list[tuple[int, int]], int]:
        """The spans found in `view`, and the hold, under the scanner's law."""

    def wake(self, position: int) -> int:
        """The position that the whole text must reach before another look can tell anything new."""
        return position + 1


class FusedCheck(Check):
    """A check whose own scanner does all the looking."""

    def look(self, view: View) -> tuple[list[tuple[int, int]], int]:
        scan = self.fuse([self]).scan(view, frozenset({0}))
        return [(hit.start, hit.end) for hit in scan.hits], scan.hold


class Meter(Protocol):
    """Follows one answer, token by token."""

    def feed(self, surprise: float) -> bool:
        """Whether this token is out of line; `surprise` is minus its log probability, in nats."""
        ...


class TokenCheck(Check):
    """A check of how sure the model was of its tokens; a text by itself tells it nothing."""

    at_end: ClassVar[bool] = False

    @abstractmethod
    def meter(self) -> Meter:
        """What follows one answer."""

    def look(self, view: View) -> tuple[list[tuple[int, int]], int]:
        return [], len(view.text)

    def wake(self, position: int) -> int:
        return NEVER


class _EachInTurn:
    """For checks that are few and different: one after the other."""

    def __init__(self, checks: Sequence[Check]) -> None:
        self._checks = checks

    def scan(self, view: View, active: Active) -> Scan:
        hits: list[Hit] = []
        alive: list[tuple[int, int]] = []
        end = len(view.text)
        wake = NEVER
        for number, check in enumerate(self._checks):
            if number not in active:
                continue
            spans, held = check.look(view)
            if spans:
                hits += [Hit(number, *span) for span in spans]
            if held < end:
                alive.append((number, held))
            if not view.final:
                wake = min(wake, check.wake(view.base + end))
        return Scan(hits, end, alive, wake)
