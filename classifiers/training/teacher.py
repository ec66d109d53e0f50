"""The teacher: multilingual-e5-small, run with torch from the weights in its file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers
from torch import Tensor
from torch.nn import functional as F

from classifiers.training.teacherfile import Floats, Pieces, Weights

MOST_TOKENS = 96  # of a text; the student sees 64 of its own
PREFIX = "query: "  # what e5 wants before a text that is compared with its like


def tokenizer(pieces: Pieces) -> Tokenizer:
    """The teacher's own way to cut a text."""
    vocabulary = list(zip(pieces.texts, pieces.scores, strict=True))
    made = Tokenizer(models.Unigram(vocabulary, pieces.unknown, byte_fallback=False))
    made.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace("\n", " ")])
    made.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always", split=False)
    made.enable_truncation(MOST_TOKENS - 2)
    return made


class Layer(NamedTuple):
    """One layer's weights, (matrix, offset) each; matrices in half the precision."""

    query: tuple[Tensor, Tensor]
    key: tuple[Tensor, Tensor]
    value: tuple[Tensor, Tensor]
    out: tuple[Tensor, Tensor]
    attention_norm: tuple[Tensor, Tensor]
    inner: tuple[Tensor, Tensor]
    outer: tuple[Tensor, Tensor]
    norm: tuple[Tensor, Tensor]


class Teacher:
    """Texts in, unit vectors of 384 out."""

    def __init__(self, path: Path, precision: torch.dtype = torch.bfloat16) -> None:
        self.weights = Weights(path)
        self.header = self.weights.header
        self.tokenizer = tokenizer(self.weights.pieces)
        self._precision = precision
        hidden = self.header.hidden
        self._words = self.weights.packed("emb.word", self.header.vocabulary, hidden)
        self._places = torch.from_numpy(
            self.weights.plain("emb.pos", self.header.positions, hidden)
            + self.weights.plain("emb.type", self.header.types, hidden)[:1]
        )
        self._norm = self._pair("emb.ln", hidden)
        self._layers = [self._layer(f"l{number}") for number in range(self.header.layers)]

    def _pair(self, name: str, size: int) -> tuple[Tensor, Tensor]:
        weight, bias = (torch.from_numpy(self.weights.plain(f"{name}.{part}", size)) for part in "wb")
        return weight, bias

    def _linear(self, name: str, rows: int, columns: int) -> tuple[Tensor, Tensor]:
        matrix = torch.from_numpy(self.weights.packed(f"{name}.w", rows, columns)).to(self._precision)
        return matrix, torch.from_numpy(self.weights.plain(f"{name}.b", rows)).to(self._precision)

    def _layer(self, name: str) -> Layer:
        hidden, inner = self.header.hidden, self.header.inner
        query, key, value, out = (self._linear(f"{name}.{part}", hidden, hidden) for part in ("q", "k", "v", "ao"))
        return Layer(
            query,
            key,
            value,
            out,
            self._pair(f"{name}.aln", hidden),
            self._linear(f"{name}.fi", inner, hidden),
            self._linear(f"{name}.fo", hidden, inner),
            self._pair(f"{name}.oln", hidden),
        )

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids with the marks at both ends."""
        pieces = self.weights.pieces
        cut = self.tokenizer.encode_batch([PREFIX + text for text in texts], add_special_tokens=False)
        return [[pieces.bos, *one.ids, pieces.eos] for one in cut]

    @torch.inference_mode()
    def vectors(self, texts: Sequence[str], tokens_at_once: int = 1024) -> Iterator[tuple[list[int], Floats]]:
        """Places in `texts` and their vectors, batch by batch, texts of like length together."""
        ids = self.ids(texts)
        order = sorted(range(len(ids)), key=lambda i: len(ids[i]))
        start = 0
        while start < len(order):
            end = start + 1
            while end < len(order) and len(ids[order[end]]) * (end + 1 - start) <= tokens_at_once:
                end += 1
            yield order[start:end], self._run([ids[i] for i in order[start:end]])
            start = end

    def _run(self, ids: list[list[int]]) -> Floats:
        longest = max(map(len, ids))
        padded = np.full((len(ids), longest), self.weights.pieces.pad)
        for row, one in zip(padded, ids, strict=True):
            row[: len(one)] = one
        there = torch.tensor([[i < len(one) for i in range(longest)] for one in ids])
        x = torch.from_numpy(self._words[padded]) + self._places[:longest]
        x = F.layer_norm(x, x.shape[-1:], *self._norm, self.weights.epsilon)
        mask = torch.where(there, 0.0, -1e4)[:, None, None, :]
        for layer in self._layers:
            x = self._step(layer, x, mask)
        kept = there[:, :, None]
        pooled = (x * kept).sum(1) / kept.sum(1)
        return F.normalize(pooled, dim=-1).numpy()

    def _step(self, layer: Layer, x: Tensor, mask: Tensor) -> Tensor:
        batch, length, hidden = x.shape
        half = x.to(self._precision)
        heads = (batch, length, self.header.heads, hidden // self.header.heads)
        query, key, value = (
            F.linear(half, *weights).view(heads).transpose(1, 2) for weights in (layer.query, layer.key, layer.value)
        )
        weights = (query @ key.transpose(2, 3)).float() * heads[-1] ** -0.5 + mask
        seen = weights.softmax(-1).to(self._precision) @ value  # by hand: a third faster here than torch's own
        out = F.linear(seen.transpose(1, 2).reshape(batch, length, hidden), *layer.out)
        x = F.layer_norm(x + out, x.shape[-1:], *layer.attention_norm, self.weights.epsilon)
        inner = F.gelu(F.linear(x.to(self._precision), *layer.inner))
        return F.layer_norm(x + F.linear(inner, *layer.outer), x.shape[-1:], *layer.norm, self.weights.epsilon)
