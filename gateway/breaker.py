"""Whether it is worth asking: after three faults in a row nobody does for a while, but for one now and then."""

from __future__ import annotations

import time
from collections.abc import Callable

FAULTS = 3  # in a row
FIRST, LONGEST = 1.0, 30.0  # seconds until one may try again, doubled each time he fails


class Breaker:
    """Closed: everybody may ask. Open: one may, when his time has come. `now` tells seconds."""

    def __init__(self, now: Callable[[], float] = time.monotonic, longest: float = LONGEST) -> None:
        self._now, self._longest = now, longest
        self._faults = 0
        self._pause = FIRST
        self._next = 0.0
        self._probing = False

    @property
    def open(self) -> bool:
        return self._faults >= FAULTS

    def allows(self) -> bool:
        """Whether the caller may ask now; if it is open and he may, no other may for the same while again."""
        if not self.open:
            return True
        now = self._now()
        if now < self._next:
            return False
        self._probing, self._next = True, now + self._pause
        return True

    def succeeded(self) -> None:
        """It answered, so all is well again."""
        self._faults, self._pause, self._probing = 0, FIRST, False

    def failed(self) -> None:
        """It did not. Those who asked before it opened, and fail after, make nothing worse."""
        self._faults += 1
        if self._faults == FAULTS or self._probing:
            self._pause = min(2 * self._pause, self._longest) if self._probing else FIRST
            self._next, self._probing = self._now() + self._pause, False
