"""How much each n-gram counts in a code: the rarer the more, and on top of that what pairs teach."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from classifiers.text import SINGLE, VOCABULARY, grams
from classifiers.training import losses
from classifiers.training.corpus import Corpus, Edge

SIZE = 128  # pairs of a batch, of either kind
STEPS = 600
RATE = 0.03
HEAT = 0.1
HOLD = 20.0  # how dear it is to leave what rarity says
RUN = 0.3  # how much a run of words counts beside a single one: two wordings share words, and few runs
ADVERSARIAL = "paws"  # the same words in another order: nothing to learn for n-grams, and much to unlearn

Ids = NDArray[np.int64]


def learn(corpus: Corpus, random: np.random.Generator) -> NDArray[np.float16]:
    """A weight for each id."""
    seen = [grams(text).astype(np.int64) for text in corpus.texts]
    start = torch.from_numpy(np.log(rarity(seen) + 0.1).astype(np.float32))
    learnt = start.clone().requires_grad_()
    optimizer = torch.optim.Adam([learnt], lr=RATE)
    sets = [one for name, one in sorted(corpus.sets.items()) if not name.startswith(ADVERSARIAL)]
    for number in range(STEPS):
        one = sets[number % len(sets)]
        like, unlike = (
            alike(learnt, seen, [edges[n] for n in random.integers(0, len(edges), SIZE)])
            for edges in (one.same, one.different)
        )
        loss = losses.ranking(like, unlike, HEAT) + HOLD * (learnt - start).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return learnt.detach().exp().numpy().astype(np.float16)


def rarity(seen: Sequence[Ids]) -> NDArray[np.float64]:
    """The logarithm of how many texts there are to one that has the id; less for runs."""
    counts = np.bincount(np.concatenate(seen), minlength=VOCABULARY)
    told: NDArray[np.float64] = np.log((len(seen) + 1) / (counts + 1))
    told[SINGLE:] *= RUN
    return told


def alike(logarithms: Tensor, seen: Sequence[Ids], edges: Sequence[Edge]) -> Tensor:
    """The cosine of each pair of texts, each id a direction of its own: what their codes estimate."""
    squares = (2 * logarithms).exp()

    def total(parts: Sequence[Ids]) -> Tensor:
        rows = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        ids = torch.from_numpy(np.concatenate(parts))
        return torch.zeros(len(parts)).index_add(0, torch.from_numpy(rows), squares[ids])

    one, other = ([seen[edge[side]] for edge in edges] for side in (0, 1))
    shared = [np.intersect1d(a, b, assume_unique=True) for a, b in zip(one, other, strict=True)]
    return total(shared) / (total(one) * total(other) + 1e-9).sqrt()
