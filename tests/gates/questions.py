"""Pairs of questions, written for these tests: such as differ in one thing that matters, and honest paraphrases."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from gateway.gates import same_question, tokens
from gateway.gates._text import plain

HERE = Path(__file__).parent / "pairs"
LANGUAGES = ("en", "zh")


class Pair(NamedTuple):
    a: str
    b: str
    same: bool
    kind: str


def pairs(kind: str, language: str) -> list[Pair]:
    lines = HERE.joinpath(f"{kind}.{language}.jsonl").read_text(encoding="utf-8").splitlines()
    return [Pair(**json.loads(line)) for line in lines]


def differs(a: str, b: str) -> str:
    """What the gates say: the same both ways round."""
    one, other = same_question(a, b), same_question(b, a)
    assert one == other
    assert one.same == (one.differs == "")
    return one.differs


def told(gate: str, question: str) -> list[str]:
    """What one gate reads out of a question."""
    return [token.value for token in tokens(plain(question)) if token.gate == gate]
