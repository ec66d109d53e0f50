"""What is trained on: each text once, which of them ask the same, which don't. Nothing of the dev and test splits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from classifiers.training.data import Pair

Edge = tuple[int, int]


class Set(NamedTuple):
    """The pairs of one source and language, by the texts' places."""

    same: list[Edge]
    different: list[Edge]


class Corpus(NamedTuple):
    """Texts; the places of those that belong to no pair; the sets; and for each text the group that asks the same."""

    texts: list[str]
    general: list[int]
    sets: dict[str, Set]
    groups: list[int]


def gather(pairs: Sequence[Pair], sentences: Iterable[str], without: frozenset[str] = frozenset()) -> Corpus:
    """The training split of the pairs, but for the sets in `without`; and sentences that stand in no pair."""
    held = {text for pair in pairs if pair.split != "train" or pair.set in without for text in (pair.a, pair.b)}
    places: dict[str, int] = {}
    sets: dict[str, Set] = {}
    for pair in pairs:
        if pair.a in held or pair.b in held:
            continue
        edge = (places.setdefault(pair.a, len(places)), places.setdefault(pair.b, len(places)))
        one = sets.setdefault(pair.set, Set([], []))
        (one.same if pair.same else one.different).append(edge)
    groups = joined(len(places), (edge for one in sets.values() for edge in one.same))
    known = len(places)
    for sentence in sentences:
        if sentence not in held:
            places.setdefault(sentence, len(places))
    general = list(range(known, len(places)))
    return Corpus(list(places), general, sets, [*groups, *general])


def joined(count: int, edges: Iterable[Edge]) -> list[int]:
    """For each of `count` places the first place it is joined to, over any number of edges."""
    roots = list(range(count))

    def root(place: int) -> int:
        while roots[place] != place:
            roots[place] = roots[roots[place]]
            place = roots[place]
        return place

    for one, other in edges:
        low, high = sorted((root(one), root(other)))
        roots[high] = low
    return [root(place) for place in range(count)]
