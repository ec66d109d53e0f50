"""How long the classifier takes for one text of so many tokens, on one thread."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from classifiers.refine import Asked, Assessor

MATERIAL = Path(__file__).parent / "material"
LANGS = ("zh", "en")
WARM = 20  # calls that do not count


def texts(assessor: Assessor, tokens: int) -> list[Asked]:
    """Questions with answers that the network reads as just so many tokens, zh and en in turn, some with a document."""
    found = [fitted(assessor, asked, tokens) for asked in _asked()]
    return [asked for asked in found if asked is not None]


def fitted(assessor: Assessor, asked: Asked, tokens: int) -> Asked | None:
    """The longest beginning of the answer with which all is so many tokens; None if there is none."""
    cuts = (asked._replace(answer=asked.answer[:end]) for end in range(len(asked.answer), 0, -1))
    return next((cut for cut in cuts if assessor.tokens(cut) == tokens), None)


def _asked() -> Iterator[Asked]:
    for pair in zip(*(_answers(lang) for lang in LANGS), strict=True):
        yield from pair


def _answers(lang: str) -> list[Asked]:
    told = yaml.safe_load((MATERIAL / f"answers.{lang}.yaml").read_text(encoding="utf-8"))
    return [Asked(one["question"], one.get("document", ""), one["answer"]) for one in told["answers"]]


def timed(assessor: Assessor, asked: Sequence[Asked], rounds: int) -> list[float]:
    """Milliseconds of each call, one text a call, round after round."""
    for number in range(WARM):
        assessor.risks([asked[number % len(asked)]])
    took = []
    for _ in range(rounds):
        for one in asked:
            began = time.perf_counter()
            assessor.risks([one])
            took.append(1000 * (time.perf_counter() - began))
    return took


def measured(tokens: int = 128, rounds: int = 100) -> dict[str, Any]:
    """p50 and p99 in milliseconds, over texts of `tokens` tokens."""
    assessor = Assessor()
    asked = texts(assessor, tokens)
    took = timed(assessor, asked, rounds)
    return {
        f"classifier_p50_ms_{tokens}": round(float(np.quantile(took, 0.5)), 2),
        f"classifier_p99_ms_{tokens}": round(float(np.quantile(took, 0.99)), 2),
        "classifier_texts": len(asked),
        "classifier_calls": len(took),
    }
