"""Texts as rows of ids, and batches of texts of like length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from classifiers.text import clean

STEP = 4  # lengths are rounded up to a multiple: fewer shapes, for each of which torch keeps a plan
CHUNK = 16  # batches that are sorted by length together


def ids(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """Token ids of each text; at least one."""
    cut = tokenizer.encode_batch([clean(text) for text in texts], add_special_tokens=False)
    return [one.ids or [1] for one in cut]


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """One tensor, 0 where a row has ended."""
    longest = -(-max(map(len, rows)) // STEP) * STEP
    whole = np.zeros((len(rows), longest), np.int64)
    for place, row in zip(whole, rows, strict=True):
        place[: len(row)] = row
    return torch.from_numpy(whole)


def endless(lengths: Sequence[int], size: int, random: np.random.Generator) -> Iterator[list[int]]:
    """Batches of places, in a new order each time round; what is left over of a round is dropped."""
    while True:
        order = random.permutation(len(lengths))
        for start in range(0, max(1, len(order) - size * CHUNK + 1), size * CHUNK):
            chunk = sorted(order[start : start + size * CHUNK].tolist(), key=lengths.__getitem__)
            parts = [chunk[at : at + size] for at in range(0, len(chunk), size)]
            random.shuffle(parts)
            yield from parts
