"""Many patterns in one pass: which match, where, and which could still match if more text came (RE2 sets)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import re2

from gateway.checks._pattern import Pattern

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

    def suspects(self, text: str) -> tuple[list[int], list[int]]:
        """The numbers of the patterns that match somewhere, and of those that a longer text might match.

        RE2 answers "nothing" when it runs out of memory. A silent pass must not be: the last pattern of the set
        always matches, and its absence is an error.
        """
        seen: list[int] = self._set._set.Match(text.encode())
        if self._sentinel not in seen:
            raise MemoryError("the rule set ran out of its memory while matching")
        if len(seen) == 1:
            return [], []
        count = self._count
        return [n for n in seen if n < count], [n - count for n in seen if count <= n < self._sentinel]

    def spans(self, number: int, text: str, begin: int) -> Iterator[tuple[int, int]]:
        """Matches of one pattern from `begin` on, left to right, not overlapping."""
        for match in self._find[number].finditer(text, begin):
            yield match.span()

    def tail(self, number: int, text: str, begin: int) -> int:
        """Where the leftmost unfinished match of one pattern starts; the text's length if there is none."""
        alive = self._alive[number]
        match = alive.search(text, begin) if alive else None
        return match.start() if match else len(text)


def _compile(pattern: Pattern, expression: str, options: re2.Options) -> re2._Regexp:
    try:
        return re2.compile(expression, options)
    except re2.error as fault:
        raise ValueError(f"RE2 can't take {pattern.source!r}: {fault.args[0]!r}; use smaller counts") from fault
