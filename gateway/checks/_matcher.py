"""Many patterns in one pass: which match, where, and which could still match if more text came (RE2 sets).

Checks that look for patterns are of one family: all of them, of whatever kind, are found in the same pass.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import re2

from gateway.checks import Active, CheckClass, FusedCheck, Scanner
from gateway.checks._pattern import Pattern
from gateway.types import Hit, Scan, View

MEMORY = 64 << 20  # bytes that one set of automata may use; RE2 drops and rebuilds states beyond it


class Matcher:
    """Finds `patterns` in text. ValueError if together they are too large for the memory they may use."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        options = re2.Options()
        options.max_mem = MEMORY
        options.never_capture = True
        options.log_errors = False
        self._count = len(patterns)
        self._find = [_compile(p, p.match, options) for p in patterns]
        self._alive = [p.alive and _compile(p, p.alive, options) for p in patterns]
        self._set = re2.Set.SearchSet(options)
        tails = [p.alive or p.match for p in patterns]
        for expression in [*(p.match for p in patterns), *tails, r"\z"]:
            self._set.Add(expression)
        self._sentinel = 2 * self._count
        try:
            self._set.Compile()
        except re2.error as fault:
            raise ValueError(
                f"{self._count} patterns together need over {MEMORY >> 20} MiB; use fewer or smaller"
            ) from fault
        self._seen = self._set._set.Match
        self._nothing = [self._sentinel]

    def suspects(self, text: str) -> tuple[Sequence[int], Sequence[int]]:
        """The numbers of the patterns that match somewhere, and of those that a longer text might match.

        RE2 answers "nothing" when it runs out of memory. A silent pass must not be: the last pattern of the set
        always matches, and its absence is an error.
        """
        seen: list[int] = self._seen(text.encode())
        if seen == self._nothing:
            return (), ()
        if self._sentinel not in seen:
            raise MemoryError("the rule set ran out of its memory while matching")
        count = self._count
        return [n for n in seen if n < count], [n - count for n in seen if count <= n < self._sentinel]

    def spans(self, number: int, text: str, begin: int, valid: Callable[[str], int] = len) -> Iterator[tuple[int, int]]:
        """Matches of one pattern from `begin` on, left to right, not overlapping.

        `valid` says how much of a match is the real thing; behind one that is none, the search goes on a character
        later. It goes over bytes, so that each step costs no more than it advances.
        """
        find, data = self._find[number], text.encode()
        place = seen = len(text[:begin].encode())
        chars = begin
        while match := find.search(data, place):
            start, end = match.span()
            found = data[start:end].decode()
            length = valid(found)
            chars, seen = chars + len(data[seen:start].decode()), start
            if length:
                yield chars, chars + length
            place = start + len(found[: length or 1].encode())

    def tail(self, number: int, text: str, begin: int) -> int:
        """Where the leftmost unfinished match of one pattern starts; the text's length if there is none."""
        alive = self._alive[number]
        match = alive.search(text, begin) if alive else None
        return match.start() if match else len(text)


class Needle(NamedTuple):
    """A pattern, and how many characters of a match are the real thing (0: none of it)."""

    pattern: Pattern
    valid: Callable[[str], int] = len


class PatternCheck(FusedCheck):
    """A check that looks for patterns."""

    @abstractmethod
    def needles(self) -> Sequence[Needle]:
        """What it looks for."""

    @classmethod
    def family(cls) -> CheckClass:
        return PatternCheck

    @classmethod
    def fuse(cls, checks: Sequence[PatternCheck]) -> Scanner:
        return PatternScanner([check.needles() for check in checks])


class PatternScanner:
    """All patterns of a rule set in one pass; spans are asked for only where something was seen."""

    def __init__(self, wanted: Sequence[Sequence[Needle]]) -> None:
        self._needles = list(dict.fromkeys(needle for needles in wanted for needle in needles))
        self._matcher = Matcher([needle.pattern for needle in self._needles])
        self._owners = [
            frozenset(n for n, needles in enumerate(wanted) if needle in needles) for needle in self._needles
        ]

    def scan(self, view: View, active: Active) -> Scan:
        text, begin = view.text, view.begin
        matching, alive = self._matcher.suspects(text[begin - 1 :] if begin > 1 else text)
        if not matching and not alive:
            return Scan((), len(text))
        hits = [
            Hit(owner, *span)
            for number in matching
            if (owners := self._owners[number] & active)
            for span in self._matcher.spans(number, text, begin, self._needles[number].valid)
            for owner in sorted(owners)
        ]
        waiting = [] if view.final else list(self._waiting(alive, text, begin, active))
        return Scan(hits, len(text), waiting)

    def _waiting(self, alive: Sequence[int], text: str, begin: int, active: Active) -> Iterator[tuple[int, int]]:
        for number in alive:
            owners = self._owners[number] & active
            if owners and (start := self._matcher.tail(number, text, begin)) < len(text):
                yield from ((owner, start) for owner in owners)


def searcher(expression: str) -> Callable[[str], bool]:
    """Whether RE2 finds `expression`, as it is written, in a text. ValueError if it can't take it."""
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(expression, options)
    except re2.error as fault:
        raise ValueError(f"RE2 can't take {expression!r}: {fault.args[0]!r}; write it without look-around") from fault
    return lambda text: compiled.search(text) is not None


def _compile(pattern: Pattern, expression: str, options: re2.Options) -> re2._Regexp:
    try:
        return re2.compile(expression, options)
    except re2.error as fault:
        raise ValueError(f"RE2 can't take {pattern.source!r}: {fault.args[0]!r}; use smaller counts") from fault
