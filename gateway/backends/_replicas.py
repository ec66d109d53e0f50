"""Which replica takes the next call: the healthy one with the least in flight, or one that is wished for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

BUSIER = 4  # calls in flight by which the one wished for may be ahead of the least busy


class Engine(NamedTuple):
    """What a replica with our plugin says of itself."""

    fingerprint: str
    modes: frozenset[str]


@dataclass(slots=True)
class Replica:
    """One address of a backend. It counts as healthy until something says otherwise, and as unpatched likewise."""

    url: str
    healthy: bool = True
    in_flight: int = 0
    taken: int = 0  # the turn at which it was picked last; one that was away has no arrears to make up
    engine: Engine | None = None  # None: it has no plugin


class Replicas:
    """The addresses of one backend."""

    def __init__(self, urls: Collection[str]) -> None:
        self.all = [Replica(url) for url in urls]
        self._turn = 0

    def any_but(self, tried: Collection[str]) -> bool:
        """Whether there is a healthy one that was not tried."""
        return any(replica.healthy and replica.url not in tried for replica in self.all)

    def pick(self, tried: Collection[str] = (), wished: str | None = None) -> Replica | None:
        """A replica to use, one not yet `tried` if there is any; equal ones take turns. None if all are down.

        The one `wished` for is taken unless it is down, was tried, or has clearly more to do than another.
        """
        if len(self.all) == 1:
            return self.all[0] if self.all[0].healthy else None
        healthy = [replica for replica in self.all if replica.healthy]
        fresh = [replica for replica in healthy if replica.url not in tried]
        best = min(fresh or healthy, key=lambda replica: (replica.in_flight, replica.taken), default=None)
        if best and wished:
            near = best.in_flight + BUSIER
            best = next((r for r in fresh if r.url == wished and r.in_flight <= near), best)
        if best:
            self._turn += 1
            best.taken = self._turn
        return best
