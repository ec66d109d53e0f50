"""Tiers say whether an answer should be checked by a second reading. They are asked cheap to dear; the first
answer wins.

A tier is one file with a class `Plug(TierSpec)`: what YAML says of it, and `connect()`, which makes the living thing.
Each may force the check, rule it out, or leave it to the next. Then it may still say that the risk has grown, and by
how much (in log-odds, so that what several have seen adds up), and a later tier counts that in.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import StrEnum
from typing import Literal, NamedTuple, Protocol

from gateway.plug import Strict


class Decision(StrEnum):
    """What a tier says."""

    FORCE = "force"
    SKIP = "skip"
    PASS = "pass"


class Case(NamedTuple):
    """An answer, and what must be known to judge its risk.

    `question` is what was asked last, `context` what stands before it (instructions, documents, earlier turns).
    `domain` is empty where none is known. `risk` is what earlier tiers have seen, in log-odds.
    """

    question: str
    context: str
    answer: str
    language: Literal["zh", "en"]
    domain: str = ""
    tenant: str = "default"
    tier: str = "standard"
    surface: str = "chat"
    model: str = ""
    risk: float = 0.0


class Opinion(NamedTuple):
    """What a tier thinks. `why` are short stable words for logs and metrics, never the client's own."""

    decision: Decision
    why: str = ""
    risk: float = 0.0  # what this tier adds to the case's


PASS = Opinion(Decision.PASS)


class Tier(Protocol):
    """A living tier."""

    def foresee(self, case: Case) -> Opinion | None:
        """This may become the answer as it stands. What is thought of it, if that takes no time; else None, and whoever
        needs long to judge can begin. Must return at once."""
        ...

    async def judge(self, case: Case) -> Opinion:
        """TierFault if it can't say, so that whoever asks goes on without it and says so."""
        ...

    async def start(self) -> None: ...

    async def stop(self) -> None: ...


class TierFault(Exception):
    """A tier can't judge now: its model is broken, or too slow. `kind` is the word that metrics use."""

    def __init__(self, message: str, *, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


class TierSpec(Strict, ABC):
    """What YAML says of every tier."""

    type: str

    @abstractmethod
    def connect(self) -> Tier:
        """The living tier; nothing is loaded before its `start`."""
