"""A kernel for tests: keeps the elements of a block in an order of its own, as real ones do."""

from __future__ import annotations

import torch

from gateway.kv.layout import Layer

BLOCKS, SIZE, HEADS, DIM = 6, 32, 2, 32
ELEMENTS = SIZE * HEADS * DIM


class Packed:
    """One layer's cache and the door to it."""

    def __init__(
        self, seed: int, dtype: torch.dtype = torch.bfloat16, heads: int = HEADS, blocks: int = BLOCKS
    ) -> None:
        self.kv = torch.zeros(blocks, heads, SIZE, 2 * DIM, dtype=dtype)
        self.heads = heads
        order = torch.randperm(2 * SIZE * heads * DIM, generator=torch.Generator().manual_seed(seed))
        self.places = order.reshape(2, SIZE, heads, DIM)

    def write(self, keys: torch.Tensor, values: torch.Tensor, slots: torch.Tensor) -> None:
        for part, rows in enumerate((keys, values)):
            for row, slot in zip(rows, slots.tolist(), strict=True):
                self.kv[slot // SIZE].view(-1)[self.places[part, slot % SIZE].flatten()] = row.flatten()

    def read(self, slots: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """What was written: keys and values [tokens, heads, head_dim]."""
        rows: tuple[list[torch.Tensor], list[torch.Tensor]] = ([], [])
        for part, out in enumerate(rows):
            for slot in slots.tolist():
                flat = self.kv[slot // SIZE].view(-1)[self.places[part, slot % SIZE].flatten()]
                out.append(flat.reshape(self.heads, DIM))
        return torch.stack(rows[0]), torch.stack(rows[1])

    def layer(self, name: str = "layers.0", group: int = 0) -> Layer:
        return Layer(name, group, self.kv, 0, self.heads, DIM, self.write)
