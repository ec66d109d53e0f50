"""Probes find what takes time to find: they ask a service, or think for long. What a finding means is for the rules
to say.

A probe is one file with a class `Plug(ProbeSpec)`: what YAML says of it, and `connect()`, which makes the living
thing. Rules name it in their `check` field like any check. It sees whole texts only: those of a request while the
backend has begun with it already, and an answer at its end, before any of it leaves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

from pydantic import Field

from gateway.plug import Strict
from gateway.types import Side


class Question(NamedTuple):
    """A text, and what must be known to judge it. `id` is the exchange's."""

    id: str
    side: Side
    text: str
    role: str
    tenant: str
    model: str


class Sighting(NamedTuple):
    """Where something was found, and a reason code if the probe itself names one."""

    spans: Sequence[tuple[int, int]] = ()
    reason: str = ""


class Probe(Protocol):
    """A living probe."""

    async def ask(self, question: Question) -> Sighting:
        """ProbeFault if it can't say; spans lie within the text."""
        ...

    async def start(self) -> None: ...

    async def stop(self) -> None: ...


class ProbeFault(Exception):
    """A probe can't judge now: its service is down, slow, or talks nonsense. `kind` is the word that metrics use."""

    def __init__(self, message: str, *, kind: str) -> None:
        super().__init__(message)
        self.kind = kind


class ProbeSpec(Strict, ABC):
    """What YAML says of every probe."""

    type: str
    texts: Literal["all", "last"] = Field(
        default="all",
        description="Of a request: each text that the rule applies to, or only the last; what came before it was "
        "judged when it was the last.",
    )

    @abstractmethod
    def connect(self) -> Probe:
        """The living probe; nothing is opened before its `start`."""
