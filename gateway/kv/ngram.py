"""A ban on given text, by its tokens: what may not come next, so that a generation doesn't say it again."""

from __future__ import annotations

from collections.abc import Sequence

LIMIT = 4096  # tokens of all spans that are taken; those behind them are not banned
LONGEST = 16  # the longest n: each banned token is kept that many times

_NOTHING: frozenset[int] = frozenset()


class Ban:
    """The banned n-grams of some spans. A span shorter than n is banned as a whole, one of a single token everywhere.

    Of all the spans together, in their order, only the first LIMIT tokens are taken: `left_out` tells how many were
    not. It costs a step a handful of lookups, however much is banned.
    """

    __slots__ = ("_lengths", "_next", "left_out")

    def __init__(self, spans: Sequence[Sequence[int]], n: int = 3) -> None:
        """ValueError if n is not from 1 to LONGEST."""
        if not 1 <= n <= LONGEST:
            raise ValueError(f"n={n} must be from 1 to {LONGEST} tokens")
        banned: dict[tuple[int, ...], set[int]] = {}
        left = LIMIT
        for span in spans:
            size = min(n, len(span))  # of its n-grams; a span that is cut short has none of its own that is shorter
            taken = tuple(span[:left])
            left -= len(taken)
            for start in range(len(taken) - size + 1 if size else 0):
                *before, last = taken[start : start + size]
                banned.setdefault(tuple(before), set()).add(last)
        self.left_out = sum(map(len, spans)) - (LIMIT - left)
        self._next = {before: frozenset(last) for before, last in banned.items()}
        self._lengths = sorted({len(before) for before in banned})

    def __bool__(self) -> bool:
        """Whether anything is banned."""
        return bool(self._next)

    def forbidden(self, tail: Sequence[int]) -> frozenset[int]:
        """The tokens that may not come next. `tail`: what was generated last, n - 1 tokens of it or more."""
        found = _NOTHING
        for length in self._lengths:
            if length <= len(tail):
                last = self._next.get(tuple(tail[len(tail) - length :]), _NOTHING)
                found = found | last if found else last
        return found
