"""The first lesson: the student learns to see texts, and single words, as the teacher does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from classifiers.training import losses
from classifiers.training.batches import endless, padded
from classifiers.training.space import Floats
from classifiers.training.student import Student

SIZE = 256  # texts of a batch
WORDS = 64  # single pieces of a batch, so that a word which no text holds keeps its sense too
WORDS_WEIGHT = 0.3
RATE = 2e-3
WARM = 50
Tell = Callable[[str], None]


class Lesson(NamedTuple):
    """Texts as ids; what the teacher says of them, narrow and in full; what it says of each piece."""

    rows: Sequence[Sequence[int]]
    narrow: Floats
    full: Floats
    pieces: Floats  # its first row is for id `first`
    first: int


def optimizer(student: Student, rate: float) -> torch.optim.Optimizer:
    """Words don't decay: one that is not seen keeps what the teacher said of it."""
    words = student.words.weight
    rest = [weights for weights in student.parameters() if weights is not words]
    return torch.optim.AdamW(
        [{"params": rest, "weight_decay": 0.01}, {"params": [words], "weight_decay": 0.0}],
        lr=rate,
        betas=(0.9, 0.98),
        fused=True,
    )


def step(optimizer: torch.optim.Optimizer, loss: Tensor, rate: float, done: float, warm: float) -> None:
    """One step at a rate that rises for the first `warm` part and then falls to nothing."""
    for group in optimizer.param_groups:
        group["lr"] = rate * min(1.0, (done + 1e-3) / warm) * (1 - done)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], 1.0)
    optimizer.step()


def run(student: Student, lesson: Lesson, steps: int, random: np.random.Generator, tell: Tell) -> None:
    """The whole lesson."""
    learning = optimizer(student, RATE)
    batches = endless([len(row) for row in lesson.rows], SIZE, random)
    for number in range(steps):
        places = next(batches)
        alone = random.integers(0, len(lesson.pieces), WORDS)
        with torch.autocast("cpu", torch.bfloat16):
            vectors, _ = student(padded([lesson.rows[place] for place in places]))
            words, _ = student(torch.from_numpy(alone + lesson.first)[:, None])
        far = losses.cosine(vectors.float(), torch.from_numpy(lesson.narrow[places]))
        near = losses.neighbours(vectors.float(), torch.from_numpy(lesson.full[places]))
        of_words = losses.cosine(words.float(), torch.from_numpy(lesson.pieces[alone]))
        step(learning, 2 * far + near + WORDS_WEIGHT * of_words, RATE, number / steps, WARM / steps)
        if number % 100 == 99:
            tell(f"distilling: step {number + 1} of {steps}, {far.item():.3f} from the teacher")
