"""Slots in the order of their last use, each step in constant time and eight bytes a slot."""

from __future__ import annotations

from array import array


class Ring:
    """A list linked both ways; slot 0 is its ends."""

    def __init__(self) -> None:
        self._before, self._after = array("i", [0]), array("i", [0])

    @property
    def first(self) -> int:
        """The least lately used; 0 if there is none."""
        return self._after[0]

    def new(self) -> int:
        """A slot that was never there before, the most lately used."""
        slot = len(self._after)
        self._before.append(0)
        self._after.append(0)
        self.append(slot)
        return slot

    def append(self, slot: int) -> None:
        """One that is not in the list is the most lately used."""
        last = self._before[0]
        self._before[slot], self._after[slot] = last, 0
        self._after[last] = self._before[0] = slot

    def remove(self, slot: int) -> None:
        before, after = self._before[slot], self._after[slot]
        self._after[before], self._before[after] = after, before
