"""Which replica takes the next call: the healthy one with the least in flight."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass


@dataclass(slots=True)
class Replica:
    """One address of a backend. It counts as healthy until something says otherwise."""

    url: str
    healthy: bool = True
    in_flight: int = 0
    taken: int = 0  # the turn at which it was picked last; one that was away has no arrears to make up


class Replicas:
    """The addresses of one backend."""

    def __init__(self, urls: Collection[str]) -> None:
        self.all = [Replica(url) for url in urls]
        self._turn = 0

    def any_but(self, tried: Collection[str]) -> bool:
        """Whether there is a healthy one that was not tried."""
        return any(replica.healthy and replica.url not in tried for replica in self.all)

    def pick(self, tried: Collection[str] = ()) -> Replica | None:
        """A replica to use, one not yet `tried` if there is any; equal ones take turns. None if all are down."""
        if len(self.all) == 1:
            return self.all[0] if self.all[0].healthy else None
        healthy = [replica for replica in self.all if replica.healthy]
        fresh = [replica for replica in healthy if replica.url not in tried]
        best = min(fresh or healthy, key=lambda replica: (replica.in_flight, replica.taken), default=None)
        if best:
            self._turn += 1
            best.taken = self._turn
        return best
