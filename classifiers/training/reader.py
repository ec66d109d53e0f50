"""The network that reads an answer: the first layers of multilingual-e5-small, and a head over its first token.

The last layer is asked for the first token alone, so it costs a sixth of the others. What each token is (question,
answer, evidence, evidence that the answer repeats) is added to it, zero before training.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from classifiers.reading import FEATURES
from classifiers.training.teacherfile import Floats, Weights

LAYERS = 6
WIDTH = 384
HEADS = 12
INNER = 1536
KINDS = 4
POSITIONS = 320
MIDDLE = 48  # of the head
EPSILON = 1e-12


class Batch(NamedTuple):
    """Rows of one length at most; `there` is False where a row has ended."""

    ids: Tensor
    kinds: Tensor
    features: Tensor
    there: Tensor


class Layer(nn.Module):
    """As in the teacher's file: attention, then two matrices, each normed after it is added."""

    def __init__(self, dropout: float) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.attention_norm, self.norm = (nn.LayerNorm(WIDTH, eps=EPSILON) for _ in range(2))
        self.inner = nn.Linear(WIDTH, INNER)
        self.outer = nn.Linear(INNER, WIDTH)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, bias: Tensor, *, first_only: bool = False) -> Tensor:
        """`bias` is added to attention."""
        asking = x[:, :1] if first_only else x
        query, key, value = self._heads(self.query(asking)), self._heads(self.key(x)), self._heads(self.value(x))
        weights = (query @ key.transpose(2, 3) * (WIDTH // HEADS) ** -0.5 + bias).softmax(-1)
        seen = (weights.to(value.dtype) @ value).transpose(1, 2).reshape(asking.shape)
        x = self.attention_norm(asking + self.dropout(self.out(seen)))
        return self.norm(x + self.dropout(self.outer(F.gelu(self.inner(x)))))

    def _heads(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:2], HEADS, WIDTH // HEADS).transpose(1, 2)


class Reader(nn.Module):
    """Token ids, kinds and features in; a number above zero where the answer needs refining."""

    def __init__(self, words: Tensor, places: Tensor, dropout: float = 0.1, layers: int = LAYERS) -> None:
        super().__init__()
        self.words = nn.Embedding.from_pretrained(words.clone(), freeze=True)
        self.places = nn.Parameter(places[:POSITIONS].clone())
        self.kinds = nn.Parameter(torch.zeros(KINDS, WIDTH))
        self.norm = nn.LayerNorm(WIDTH, eps=EPSILON)
        self.layers = nn.ModuleList(Layer(dropout) for _ in range(layers))
        self.dropout = nn.Dropout(dropout)
        self.plain = nn.Linear(FEATURES, MIDDLE)
        self.middle = nn.Linear(2 * WIDTH, MIDDLE)
        self.last = nn.Linear(2 * MIDDLE, 1)

    def forward(self, batch: Batch) -> Tensor:
        """One number a row."""
        x = self.words(batch.ids) + self.places[: batch.ids.shape[1]] + self.kinds[batch.kinds]
        x = self.dropout(self.norm(x))
        bias = torch.where(batch.there, 0.0, -1e4)[:, None, None, :]
        for layer in self.layers[:-1]:
            x = layer(x, bias)
        kept = batch.there[:, :, None].to(x.dtype)
        mean = (x * kept).sum(1) / kept.sum(1)
        first = self.layers[-1](x, bias, first_only=True)[:, 0]
        read = self.middle(self.dropout(torch.cat([first, mean], -1)))
        both = torch.cat([torch.tanh(read), torch.tanh(self.plain(batch.features))], -1)
        return self.last(both)[:, 0]


def start(weights: Weights, kept: Sequence[int], dropout: float = 0.1, layers: Sequence[int] = range(LAYERS)) -> Reader:
    """Before training: the teacher's words (rows of these ids) and these of its layers."""
    words = weights.packed("emb.word", weights.header.vocabulary, WIDTH)[list(kept)]
    places = weights.plain("emb.pos", weights.header.positions, WIDTH)
    places += weights.plain("emb.type", weights.header.types, WIDTH)[:1]
    made = Reader(torch.from_numpy(words), torch.from_numpy(places), dropout, len(layers))
    _set(made.norm, weights.plain("emb.ln.w", WIDTH), weights.plain("emb.ln.b", WIDTH))
    for layer, number in zip(made.layers, layers, strict=True):
        for name, module in layer.named_children():
            if name in _NAMES:
                _set(module, *_read(weights, f"l{number}.{_NAMES[name]}", module))
    return made


_NAMES: Mapping[str, str] = {
    "query": "q", "key": "k", "value": "v", "out": "ao",
    "attention_norm": "aln", "inner": "fi", "outer": "fo", "norm": "oln",
}  # fmt: skip


def _read(weights: Weights, name: str, module: nn.Module) -> tuple[Floats, Floats]:
    if isinstance(module, nn.Linear):
        return (
            weights.packed(f"{name}.w", module.out_features, module.in_features),
            weights.plain(f"{name}.b", module.out_features),
        )
    return weights.plain(f"{name}.w", WIDTH), weights.plain(f"{name}.b", WIDTH)


def _set(module: nn.Module, weight: Floats, bias: Floats) -> None:
    with torch.no_grad():
        module.weight.copy_(torch.from_numpy(np.ascontiguousarray(weight)))
        module.bias.copy_(torch.from_numpy(bias))
