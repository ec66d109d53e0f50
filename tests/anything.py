"""JSON that nobody expected: objects of known words that hold whatever may stand there, drawn by lot."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any


def anything(chance: random.Random, words: Sequence[str], depth: int = 3) -> Any:
    """A value, as likely simple as not."""
    if depth == 0 or chance.random() < 0.4:
        return chance.choice((None, True, False, 0, -1, 7, 1e300, 0.5, "", "x", "block", "user", "12"))
    if chance.random() < 0.4:
        return [anything(chance, words, depth - 1) for _ in range(chance.randrange(3))]
    return table(chance, words, depth)


def table(chance: random.Random, words: Sequence[str], depth: int = 4) -> dict[str, Any]:
    """An object with some of these words."""
    chosen = chance.sample(words, chance.randrange(min(len(words), 12)))
    return {word: anything(chance, words, depth - 1) for word in chosen}
