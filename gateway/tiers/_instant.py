"""A tier that needs no time to think: it keeps nothing, and answers whenever it is asked."""

from __future__ import annotations

from collections.abc import Callable

from gateway.tiers import Case, Opinion


class Instant:
    """A living tier made of one pure function, which must be quick, since it holds up the event loop."""

    def __init__(self, think: Callable[[Case], Opinion]) -> None:
        self._think = think

    def foresee(self, case: Case) -> Opinion:
        return self._think(case)

    async def judge(self, case: Case) -> Opinion:
        return self._think(case)

    async def start(self) -> None:
        """There is nothing to load."""

    async def stop(self) -> None:
        """There is nothing to end."""
