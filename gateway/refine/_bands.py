"""What has a similarity code that is near, found without looking at all there is.

Codes of 64 bits are cut into one band more than bits may differ: two that are near have one band that is equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

BITS = 64
CROWD = 64  # codes of one band that are compared, the newest
NEAREST = 8  # that are worth a look


class _Band(NamedTuple):
    """What two near codes of one owner have in common."""

    whose: bytes
    kind: int  # which of an entry's codes
    number: int
    value: int


class Bands:
    """Names by their codes. Of names that belong to others nothing is ever found."""

    def __init__(self, radius: int) -> None:
        self._radius = radius
        ends = [BITS * n // (radius + 1) for n in range(radius + 2)]
        self._cuts = [(start, (1 << end - start) - 1) for start, end in pairwise(ends)]
        self._bands: dict[_Band, dict[str, int]] = {}  # the code of each name
        self._count: dict[bytes, int] = {}

    def known(self, whose: bytes) -> bool:
        """Whether there is anything of theirs."""
        return whose in self._count

    def add(self, whose: bytes, codes: Sequence[int], name: str) -> None:
        """Each name once."""
        self._count[whose] = self._count.get(whose, 0) + 1
        for band, code in self._of(whose, codes):
            self._bands.setdefault(band, {})[name] = code

    def remove(self, whose: bytes, codes: Sequence[int], name: str) -> None:
        """With the codes that it was added with."""
        self._count[whose] -= 1
        if not self._count[whose]:
            del self._count[whose]
        for band, _ in self._of(whose, codes):
            del self._bands[band][name]
            if not self._bands[band]:
                del self._bands[band]

    def near(self, whose: bytes, codes: Sequence[int]) -> list[str]:
        """Names that have a code within the radius, the nearest first, and of equal ones the newest."""
        found: dict[str, int] = {}
        for band, code in self._of(whose, codes):
            for name, other in islice(reversed(self._bands.get(band, {}).items()), CROWD):
                distance = (code ^ other).bit_count()
                if distance <= self._radius:
                    found[name] = min(distance, found.get(name, BITS))
        return sorted(found, key=found.__getitem__)[:NEAREST]

    def _of(self, whose: bytes, codes: Sequence[int]) -> Iterator[tuple[_Band, int]]:
        for kind, code in enumerate(codes):
            for number, (shift, mask) in enumerate(self._cuts):
                yield _Band(whose, kind, number, code >> shift & mask), code
