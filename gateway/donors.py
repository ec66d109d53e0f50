"""Which of the captures that were found serves a request best, and how: the one that gives back the most of its prompt.

What a capture can give is told from the two sketches, in bytes of text: how far the prompts begin alike, and which
longer passages they share behind that. Whether tokens agree is the engine's to say.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import NamedTuple

from gateway.rules import Inject
from gateway.stores import WIDTH, Kept, Sketch

BYTES = 4.0  # of text in a token: in English about 4 letters, in Chinese about 1.4 characters of 3 bytes
MOST_RUNS = 32  # passages of which the best order is looked for
_NONE = array("Q")


class Offer(NamedTuple):
    """A capture that may serve, and how many tokens of the request it is expected to save."""

    kept: Kept
    policy: Inject
    prefix: int
    moved: int

    @property
    def gain(self) -> int:
        return self.prefix + self.moved

    @property
    def mode(self) -> str:
        """What to ask the engine for: where nothing has moved, the exact way, which leaves its own cache in use."""
        return self.policy.mode if self.moved or not self.injects else "prefix"

    @property
    def injects(self) -> bool:
        """Whether anything is to be injected; else it is named for the words alone that its policy bans."""
        return self.policy.mode != "none"


class Run(NamedTuple):
    """Chunks of a request from `start` on that are a donor's from `donor` on: how many, and their bytes."""

    start: int
    donor: int
    length: int
    size: int


def choose(
    asked: Sketch, session: str, found: Iterable[Kept], policy_of: Callable[[str], Inject], size: float = BYTES
) -> Offer | None:
    """The best of the captures that were found; None if none is allowed and worth it. `size`: bytes in a token."""
    offers = [_offer(asked, session, kept, policy_of(kept.reason), size) for kept in found]
    return max((offer for offer in offers if offer and offer.gain), key=_worth, default=None)


def _worth(offer: Offer) -> tuple[bool, int, float]:
    """The more the better; of equal ones the one that lives longest."""
    return offer.injects, offer.gain, offer.kept.until


def _offer(asked: Sketch, session: str, kept: Kept, policy: Inject, size: float) -> Offer | None:
    if (policy.mode == "none" and not policy.ban) or kept.sketch.whose != asked.whose:
        return None
    if policy.scope == "session" and (not session or session != kept.session):
        return None
    same = alike(asked, kept.sketch)
    prefix, moved = sum(asked.sizes[:same]) / size, 0.0
    if policy.mode == "splice":
        for passage in passages(asked, kept.sketch, same, policy.min_tokens * size):
            tokens = passage / size
            moved += tokens - min(policy.recompute.first, tokens * policy.recompute.share)
    return Offer(kept, policy, int(prefix) if prefix >= policy.min_tokens else 0, int(moved))


def alike(one: Sketch, other: Sketch) -> int:
    """With how many chunks two prompts begin alike."""
    low, high = 0, min(len(one.sizes), len(other.sizes))
    while low < high:
        middle = (low + high + 1) // 2
        last = slice((middle - 1) * WIDTH, middle * WIDTH)
        if one.prefix[last] == other.prefix[last]:
            low = middle
        else:
            high = middle - 1
    return low


def passages(asked: Sketch, donor: Sketch, behind: int = 0, least: float = 0.0) -> list[int]:
    """The bytes of the passages of at least `least` that both hold behind their first `behind` chunks.

    Only as the engine can use them: in the same order in both, and of those the ones that are most together.
    """
    runs = heapq.nlargest(MOST_RUNS, _runs(asked, donor, behind, least), key=attrgetter("size"))
    chains: list[tuple[Run, int, list[int]]] = []  # for each run the best that ends with it: bytes in all, and of each
    for run in sorted(runs):
        before = (chain for chain in chains if _end(chain[0]) <= run.start and _ahead(chain[0]) <= run.donor)
        _, total, sizes = max(before, key=lambda chain: chain[1], default=(run, 0, []))
        chains.append((run, total + run.size, [*sizes, run.size]))
    return max(chains, key=lambda chain: chain[1], default=(None, 0, []))[2]


def _end(run: Run) -> int:
    return run.start + run.length


def _ahead(run: Run) -> int:
    return run.donor + run.length


def _runs(asked: Sketch, donor: Sketch, behind: int, least: float) -> Iterator[Run]:
    """Runs of chunks that agree, each as long as it can be; a chunk of the request is in one of them at most."""
    wanted, given = array("Q", asked.chunks), array("Q", donor.chunks)
    places = {given[place]: place for place in range(len(given) - 1, behind - 1, -1)}
    start = behind
    while start < len(wanted):
        place = places.get(wanted[start])
        if place is None:
            start += 1
            continue
        length = 1
        while wanted[start + length : start + length + 1] == given[place + length : place + length + 1] != _NONE:
            length += 1
        size = sum(asked.sizes[start : start + length])
        if size >= least:
            yield Run(start, place, length, size)
        start += length
