"""How the reader learns: batches of like length, each answer right or wrong, the wrong one above the right one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from classifiers.rows import UNKNOWN, Row
from classifiers.training.reader import Batch, Reader

TOKENS = 2048  # of a batch, padding included
CHUNK = 48  # batches that are sorted by length together
STEP = 8  # lengths are rounded up to a multiple
HEAD = 8.0  # how much faster the head learns
WARM = 0.06
DECAY = 0.01
APART = 0.5  # how much it counts that a wrong answer lies above a right one to the same question
SMOOTH = 0.03
HIDDEN = 0.04  # of the tokens, hidden from each step
Tell = Callable[[str], None]


class Lesson(NamedTuple):
    """A unit as rows, the wrong one first; which of them are there."""

    rows: tuple[Row, ...]
    wrong: tuple[bool, ...]


def batches(lessons: Sequence[Lesson], random: np.random.Generator) -> list[list[Lesson]]:
    """All lessons once, in batches of like length, in a random order."""
    order = random.permutation(len(lessons))
    longest = [max(len(row.ids) for row in lesson.rows) for lesson in lessons]
    size = CHUNK * TOKENS // (2 * max(1, int(np.mean(longest))))
    made: list[list[Lesson]] = []
    for start in range(0, len(order), size):
        chunk = sorted(order[start : start + size].tolist(), key=longest.__getitem__)
        parts = list(_parts([lessons[place] for place in chunk]))
        random.shuffle(parts)  # type: ignore[arg-type]
        made += parts
    return made


def _parts(lessons: Sequence[Lesson]) -> Iterator[list[Lesson]]:
    part: list[Lesson] = []
    rows = 0
    for lesson in lessons:
        length = max(len(row.ids) for row in lesson.rows)
        if part and (rows + len(lesson.rows)) * length > TOKENS:
            yield part
            part, rows = [], 0
        part.append(lesson)
        rows += len(lesson.rows)
    if part:
        yield part


def together(rows: Sequence[Row]) -> Batch:
    """Rows as tensors."""
    longest = -(-max(len(row.ids) for row in rows) // STEP) * STEP
    ids = np.zeros((len(rows), longest), np.int64)
    kinds = np.zeros((len(rows), longest), np.int64)
    for place, row in enumerate(rows):
        ids[place, : len(row.ids)] = row.ids
        kinds[place, : len(row.kinds)] = row.kinds
    features = torch.from_numpy(np.stack([row.features for row in rows]))
    return Batch(torch.from_numpy(ids), torch.from_numpy(kinds), features, torch.from_numpy(ids > 0))


def loss(numbers: Tensor, lessons: Sequence[Lesson]) -> Tensor:
    """Of all rows of a batch, in the lessons' order."""
    wrong = torch.tensor([float(one) for lesson in lessons for one in lesson.wrong])
    alone = F.binary_cross_entropy_with_logits(numbers, wrong * (1 - 2 * SMOOTH) + SMOOTH)
    starts = np.cumsum([0, *(len(lesson.rows) for lesson in lessons)])[:-1]
    pairs = torch.from_numpy(starts[[len(lesson.rows) == 2 for lesson in lessons]])
    if not len(pairs):
        return alone
    return alone + APART * F.softplus(numbers[pairs + 1] - numbers[pairs]).mean()


def optimizer(reader: Reader, rate: float) -> torch.optim.Optimizer:
    """The head learns faster than what is already known."""
    head = [*reader.plain.parameters(), *reader.middle.parameters(), *reader.last.parameters(), reader.kinds]
    known = {id(weights) for weights in head}
    rest = [weights for weights in reader.parameters() if weights.requires_grad and id(weights) not in known]
    groups = [{"params": rest, "most": rate}, {"params": head, "most": HEAD * rate}]
    return torch.optim.AdamW(groups, lr=rate, weight_decay=DECAY, betas=(0.9, 0.98), fused=True)


def run(reader: Reader, planned: Sequence[list[Lesson]], rate: float, random: np.random.Generator, tell: Tell) -> None:
    """Every batch once, at a rate that rises quickly and then falls to nothing."""
    learning = optimizer(reader, rate)
    reader.train()
    total = 0.0
    for number, lessons in enumerate(planned):
        batch = together([row for lesson in lessons for row in lesson.rows])
        hidden = torch.from_numpy(random.random(batch.ids.shape) < HIDDEN) & (batch.ids > UNKNOWN)
        batch = batch._replace(ids=batch.ids.masked_fill(hidden, UNKNOWN))
        done = number / len(planned)
        for group in learning.param_groups:
            group["lr"] = group["most"] * min(1.0, (done + 1e-3) / WARM) * (1 - done)
        with torch.autocast("cpu", torch.bfloat16):
            numbers = reader(batch)
        far = loss(numbers.float(), lessons)
        learning.zero_grad()
        far.backward()
        torch.nn.utils.clip_grad_norm_([p for p in reader.parameters() if p.requires_grad], 1.0)
        learning.step()
        total += far.item()
        if number % 100 == 99:
            tell(f"step {number + 1} of {len(planned)}: loss {total / 100:.3f}")
            total = 0.0


@torch.inference_mode()
def numbers(reader: Reader, rows: Sequence[Row]) -> np.ndarray:
    """What the reader says of each row, before it is quantised."""
    reader.eval()
    order = sorted(range(len(rows)), key=lambda place: len(rows[place].ids))
    told = np.zeros(len(rows), np.float32)
    for start in range(0, len(order), 16):
        places = order[start : start + 16]
        with torch.autocast("cpu", torch.bfloat16):
            told[places] = reader(together([rows[place] for place in places])).float().numpy()
    return told
