"""For how long conditions have held without a break. Time is passed in."""

from __future__ import annotations

GAP = 7200.0  # seconds between two looks after which nobody can say what was in between


class Spells:
    """By name, since when each condition has held."""

    def __init__(self) -> None:
        self._since: dict[str, float] = {}
        self._named: set[str] = set()
        self._last: float | None = None

    def look(self, at: float) -> None:
        """A new look begins. What nobody asked about in the last one has not held; nor has anything if the clock went
        back, or if nobody looked for long."""
        lost = self._last is not None and not 0 <= at - self._last <= GAP
        self._since = {} if lost else {name: since for name, since in self._since.items() if name in self._named}
        self._named = set()
        self._last = at

    def held(self, name: str, holds: bool) -> float:
        """For how many seconds it has held, this look included; -1 if it does not."""
        at = self._last or 0.0
        self._named.add(name)
        if not holds:
            self._since.pop(name, None)
            return -1.0
        return at - self._since.setdefault(name, at)
