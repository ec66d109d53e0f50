"""What is made small in training. `alike` is the matrix of all similarities of a batch."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

NEVER = -1e4  # in place of a similarity that doesn't count


def cosine(vectors: Tensor, wanted: Tensor) -> Tensor:
    """How far vectors are from those wanted."""
    return (1 - (vectors * wanted).sum(1)).mean()


def neighbours(vectors: Tensor, wanted: Tensor, heat: float = 0.05) -> Tensor:
    """Whether each text has the same neighbours as in the teacher's space, whatever the space."""
    itself = torch.eye(len(vectors), dtype=torch.bool)
    mine = (vectors @ vectors.T / heat).masked_fill(itself, NEVER).log_softmax(1)
    theirs = (wanted @ wanted.T / heat).masked_fill(itself, NEVER).softmax(1)
    return F.kl_div(mine, theirs, reduction="batchmean")


def contrast(alike: Tensor, groups: Tensor, heat: float) -> Tensor:
    """Texts of one group nearer to each other than to any other text of the batch."""
    itself = torch.eye(len(groups), dtype=torch.bool)
    same = (groups[:, None] == groups[None, :]) & ~itself
    chances = (alike / heat).masked_fill(itself, NEVER).log_softmax(1)
    each = -(chances * same).sum(1) / same.sum(1).clamp(min=1)
    return each[same.any(1)].mean()


def ranking(like: Tensor, unlike: Tensor, heat: float) -> Tensor:
    """Every pair that asks the same above every pair that doesn't: CoSENT's loss, which thresholds live by."""
    return F.softplus(((unlike[None, :] - like[:, None]) / heat).flatten().logsumexp(0))


def even(signs: Tensor) -> Tensor:
    """Each bit set in half of the texts, and no bit told by another."""
    together = signs.T @ signs / len(signs)
    apart = together - torch.diag(torch.diagonal(together))
    return signs.mean(0).pow(2).mean() + apart.pow(2).mean()
