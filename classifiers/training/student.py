"""The student: what the shipped encoder is before it becomes ONNX. Two layers of 128, and a head that says 64 signs.

Its stream is never normalised before the mean over the tokens is taken, so a word's weight is its vector's length. With
the layers' last matrices at zero it starts as that mean, over a table that was drawn from the teacher, and learns only
what the mean can't say.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

WIDTH = 128
LAYERS = 2
HEADS = 4
INNER = 512
TOKENS = 64
BITS = 64


class Layer(nn.Module):
    """Attention, then two matrices; each adds to the stream."""

    def __init__(self) -> None:
        super().__init__()
        self.before = nn.LayerNorm(WIDTH)
        self.joined = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.between = nn.LayerNorm(WIDTH)
        self.inner = nn.Linear(WIDTH, INNER)
        self.outer = nn.Linear(INNER, WIDTH)
        for last in (self.out, self.outer):
            nn.init.zeros_(last.weight)
            nn.init.zeros_(last.bias)

    def forward(self, x: Tensor, bias: Tensor) -> Tensor:
        """`bias` is 0 where there is a token and very small where there is none."""
        batch, length, _ = x.shape
        joined = self.joined(self.before(x)).view(batch, length, 3, HEADS, WIDTH // HEADS)
        query, key, value = joined.permute(2, 0, 3, 1, 4)
        weights = (query @ key.transpose(2, 3) * (WIDTH // HEADS) ** -0.5 + bias).softmax(-1)
        x = x + self.out((weights @ value).transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.outer(F.gelu(self.inner(self.between(x))))


class Student(nn.Module):
    """Token ids in, a unit vector and 64 numbers of which only the signs count out. Id 0 is no token."""

    def __init__(self, table: Tensor) -> None:
        super().__init__()
        self.words = nn.Embedding.from_pretrained(table.clone(), freeze=False)
        self.places = nn.Parameter(torch.zeros(TOKENS, WIDTH))
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.head = nn.Linear(WIDTH, BITS)
        nn.init.orthogonal_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Vectors and signs of a batch of rows of ids."""
        there = (ids > 0).to(self.places.dtype)
        bias = (there - 1)[:, None, None, :] * 1e4
        x = self.words(ids) + self.places[: ids.shape[1]]
        for layer in self.layers:
            x = layer(x, bias)
        pooled = (x * there[:, :, None]).sum(1) / there.sum(1, keepdim=True)
        vectors = F.normalize(pooled, dim=-1)
        return vectors, self.head(vectors)
