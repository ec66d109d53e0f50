"""Small real models for the classifier's tier: one that measures, one that can be held, one that can't bear a text."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from gateway.tiers._model import Asked, Language


@dataclass
class ByLength:
    """The longer an answer, the riskier: a hundredth for each character. Keeps what it was asked."""

    seen: list[list[str]] = field(default_factory=list)

    def risks(self, asked: Sequence[Asked]) -> Sequence[float]:
        self.seen.append([one.answer for one in asked])
        return [min(len(one.answer) / 100, 1.0) for one in asked]

    def threshold(self, language: Language, context: bool) -> float:
        return {"zh": 0.4, "en": 0.6}[language] + (0.1 if context else 0.0)


@dataclass
class Held(ByLength):
    """Works only while its gate is open."""

    gate: threading.Event = field(default_factory=threading.Event)
    begun: threading.Event = field(default_factory=threading.Event)

    def risks(self, asked: Sequence[Asked]) -> Sequence[float]:
        self.begun.set()
        assert self.gate.wait(10)
        return super().risks(asked)


@dataclass
class Squeamish(ByLength):
    """Can't bear some words, and says nonsense to others."""

    def risks(self, asked: Sequence[Asked]) -> Sequence[float]:
        risks = super().risks(asked)
        if any("poison" in one.answer for one in asked):
            raise RuntimeError("a tensor of the wrong shape")
        return [float("nan") if "nonsense" in one.answer else risk for one, risk in zip(asked, risks, strict=True)]
