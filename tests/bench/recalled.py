"""What the cache of readings serves again, and what it must not: the living Memo, with the models of similar questions.

Each question of the material is read once, with what was found wrong in its answer; then it comes again: as it was, in
other words, and with one thing changed in the question or in the answer. So do the strict pairs of the gates' tests,
with one answer for both.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from gateway.gates import same_question
from gateway.refine.memo import CacheSpec, Codes, Memo
from gateway.similar import Similar
from gateway.types import Correction
from tests.bench.served import strict

MATERIAL = Path(__file__).parent / "material"
LANGS = ("zh", "en")
WIDEST = 7  # bits of 64, the widest search there is: whatever it finds the gates must judge
STRICT_ANSWER = "The figure is 4.75 percent. 数字是百分之四点七五。"


class Kept(NamedTuple):
    """What was read once."""

    question: str
    answer: str
    corrections: tuple[Correction, ...]


class Later(NamedTuple):
    """What comes after it, whether it may be served by it, and of which kind it is: again, words, changed."""

    kept: Kept
    question: str
    answer: str
    same: bool
    kind: str


def workload() -> Iterator[Later]:
    """The material of both languages."""
    for lang in LANGS:
        told = yaml.safe_load((MATERIAL / f"memo.{lang}.yaml").read_text(encoding="utf-8"))
        for one in told["asked"]:
            correction = Correction(one["quote"], one["fixed"], one["evidence"])
            kept = Kept(one["question"], one["answer"], (correction,))
            yield Later(kept, kept.question, kept.answer, True, "again")
            yield from (Later(kept, question, kept.answer, True, "words") for question in one["same"])
            for change in one["changed"]:
                question, answer = change.get("question", kept.question), change.get("answer", kept.answer)
                yield Later(kept, question, answer, False, "changed")


def pairs() -> Iterator[Later]:
    """The strict pairs: honest paraphrases, and questions that differ in one thing that matters."""
    correction = (Correction("4.75 percent", "5.75 percent", "the offer of June"),)
    for pair in strict():
        kept = Kept(pair.a, STRICT_ANSWER, correction)
        yield Later(kept, pair.b, STRICT_ANSWER, pair.same, "words" if pair.same else "changed")


class Counted(NamedTuple):
    """How often a kind came, how often it was served, and what the gates refused of what was near."""

    came: Counter[str]
    served: Counter[str]
    refused: Counter[str]

    def rate(self, *kinds: str) -> float:
        """The share of these that was served."""
        return round(sum(self.served[kind] for kind in kinds) / max(sum(self.came[kind] for kind in kinds), 1), 4)


def counted(laters: Sequence[Later], codes: Codes, radius: int, *, together: bool = False) -> Counted:
    """Each meets a cache that holds what came before it alone, or all that came before any (`together`)."""
    told = Counted(Counter(), Counter(), Counter())
    heard: list[str] = []
    memo = Memo(CacheSpec(radius=radius), codes, heard.append)
    for one in dict.fromkeys(later.kept for later in laters if together):
        _put(memo, one)
    for later in laters:
        if not together:
            memo = Memo(CacheSpec(radius=radius), codes, heard.append)
            _put(memo, later.kept)
        told.came[later.kind] += 1
        told.served[later.kind] += memo.get("t", later.question, later.answer, "m") is not None
    told.refused.update(event for event in heard if event.startswith("refused_"))
    return told


def _put(memo: Memo, kept: Kept) -> None:
    memo.put("t", "m", kept.question, kept.answer, kept.corrections)


def measured() -> dict[str, Any]:
    """Hit rates of what may be served, and how much was served that may not be."""
    codes = Similar().codes
    own, gates = list(workload()), list(pairs())
    radius = CacheSpec().radius
    mine, theirs = counted(own, codes, radius, together=True), counted(gates, codes, radius)
    wide = [counted(own, codes, WIDEST, together=True), counted(gates, codes, WIDEST)]
    words = [one for one in (*own, *gates) if one.kind == "words"]
    passed = sum(same_question(one.kept.question, one.question).same for one in words)
    return {
        "cache_hit_rate": mine.rate("again", "words"),
        "cache_hit_rate_in_other_words": mine.rate("words"),
        "cache_hit_rate_strict_pairs": theirs.rate("words"),
        "cache_false_hits": mine.served["changed"] + theirs.served["changed"],
        "cache_changed": mine.came["changed"] + theirs.came["changed"],
        "cache_false_hits_widest": sum(told.served["changed"] for told in wide),
        "cache_gates_pass_in_other_words": round(passed / len(words), 4),
        "cache_refused": dict(sorted((mine.refused + theirs.refused).items())),
    }
