"""The second lesson: what asks the same lies near, what doesn't lies apart; in 128 numbers and in 64 signs at once.

A batch holds pairs of one set, so that all in it are about the same things and only what is asked tells them apart; and
general texts, each beside a disguise of itself, whose neighbours are to stay what the teacher says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from classifiers.training import losses
from classifiers.training.batches import padded
from classifiers.training.corpus import Corpus, Edge
from classifiers.training.disguise import disguise
from classifiers.training.distil import Tell, optimizer, step
from classifiers.training.space import Floats
from classifiers.training.student import BITS, Student

PAIRS = 64  # of a batch, of either kind
GENERAL = 48
RATE = 1e-3
WARM = 30
HEAT = 0.07  # of the contrast
RANKING_HEAT = 0.05
SIGNS_HEAT = 1.5  # signs are coarser
STEEPEST = 10.0  # of the curve that becomes a sign
EVEN = 2.0


class Batch(NamedTuple):
    """Places of the texts of pairs; the pairs by their place among them; places of general texts."""

    texts: list[int]
    like: Tensor
    unlike: Tensor
    general: list[int]


class Seen(NamedTuple):
    """What the student says of some texts; the signs still soft."""

    vectors: Tensor
    signs: Tensor


class Batches:
    """Drawn one by one; a set is the likelier the larger it is, but less than in proportion."""

    def __init__(self, corpus: Corpus, random: np.random.Generator) -> None:
        self._corpus, self._random = corpus, random
        self._sets = list(corpus.sets.values())
        sizes = np.sqrt([len(one.same) + len(one.different) for one in self._sets])
        self._chances = sizes / sizes.sum()

    def draw(self) -> Batch:
        """The next one."""
        one = self._sets[self._random.choice(len(self._sets), p=self._chances)]
        like, unlike = self._some(one.same), self._some(one.different)
        texts = list(dict.fromkeys(place for edge in (*like, *unlike) for place in edge))
        where = {place: number for number, place in enumerate(texts)}
        found = [torch.tensor([[where[a], where[b]] for a, b in edges]) for edges in (like, unlike)]
        general = self._random.choice(self._corpus.general, GENERAL, replace=False).tolist()
        return Batch(texts, found[0], found[1], general)

    def _some(self, edges: Sequence[Edge]) -> list[Edge]:
        drawn = self._random.choice(len(edges), min(PAIRS, len(edges)), replace=False)
        return [edges[number] for number in drawn]


def run(
    student: Student,
    corpus: Corpus,
    full: Floats,
    cut: Callable[[Sequence[str]], list[list[int]]],
    steps: int,
    random: np.random.Generator,
    tell: Tell,
) -> None:
    """The whole lesson. `full`: what the teacher says of each text; `cut`: texts to ids."""
    learning = optimizer(student, RATE)
    rows = cut(corpus.texts)
    batches = Batches(corpus, random)
    for number in range(steps):
        batch = batches.draw()
        disguised = cut([disguise(corpus.texts[place], random) for place in batch.general])
        groups = torch.tensor([corpus.groups[place] for place in batch.texts])
        steep = 1 + (STEEPEST - 1) * number / steps
        pairs = _see(student, [rows[place] for place in batch.texts], steep)
        general = _see(student, [*(rows[place] for place in batch.general), *disguised], steep)
        loss = _of_pairs(batch, groups, pairs) + _of_general(general, torch.from_numpy(full[batch.general]))
        step(learning, loss, RATE, number / steps, WARM / steps)
        if number % 100 == 99:
            tell(f"contrasting: step {number + 1} of {steps}, loss {loss.item():.2f}")


def _see(student: Student, rows: Sequence[Sequence[int]], steep: float) -> Seen:
    with torch.autocast("cpu", torch.bfloat16):
        vectors, signs = student(padded(rows))
    return Seen(vectors.float(), torch.tanh(signs.float() * steep))


def _of_pairs(batch: Batch, groups: Tensor, seen: Seen) -> Tensor:
    total = EVEN * losses.even(seen.signs)
    for numbers, heat in ((seen.vectors, 1.0), (seen.signs / BITS**0.5, SIGNS_HEAT)):
        alike = numbers @ numbers.T
        like, unlike = (alike[edges[:, 0], edges[:, 1]] for edges in (batch.like, batch.unlike))
        total = total + losses.contrast(alike, groups, HEAT * heat) + losses.ranking(like, unlike, RANKING_HEAT * heat)
    return total


def _of_general(seen: Seen, full: Tensor) -> Tensor:
    total = losses.neighbours(seen.vectors[: len(full)], full) + EVEN * losses.even(seen.signs)
    itself = torch.arange(len(full)).repeat(2)
    for numbers, heat in ((seen.vectors, 1.0), (seen.signs / BITS**0.5, SIGNS_HEAT)):
        total = total + losses.contrast(numbers @ numbers.T, itself, HEAT * heat)
    return total
