"""Surfaces turn wire formats into nouns and back. Pure: no I/O, no rules.

A surface is one file with a class `Plug(Surface)`. It must find every text that a client would be shown, also in
fields it has never heard of: a guard that skips what it does not know has holes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from gateway.errors import Fault
from gateway.types import Exchange, Finding, Piece, Text, Usage


class Asked(NamedTuple):
    """What a request body says that the road must know."""

    model: str
    texts: tuple[Text, ...]
    stream: bool
    choices: int
    wants_usage: bool


class Reading(NamedTuple):
    """What an event says: its texts in order, the choices that end with it and why, and what else matters."""

    pieces: Sequence[Piece]
    ends: Mapping[int, str]
    usage: Usage | None = None
    failed: bool = False  # it is the upstream's own report of an error


class Surface(ABC):
    """One wire format."""

    name: ClassVar[str]
    paths: ClassVar[Sequence[str]]

    @abstractmethod
    def admit(self, body: Mapping[str, Any]) -> Asked:
        """Understand a request body; BadRequest names the field that is wrong."""

    @abstractmethod
    def upstream_body(self, exchange: Exchange, body: Mapping[str, Any]) -> dict[str, Any]:
        """The body that goes upstream: fields that only the gateway may set are removed, usage is asked for."""

    @abstractmethod
    def read(self, data: Mapping[str, Any]) -> Reading:
        """Understand a stream event or a whole answer; UpstreamFault if it is neither."""

    @abstractmethod
    def without_usage(self, data: dict[str, Any]) -> dict[str, Any] | None:
        """The event less its usage, for a client that did not ask; None if nothing is left."""

    @abstractmethod
    def choices(self, data: Mapping[str, Any]) -> set[int]:
        """The choices that an event speaks of."""

    @abstractmethod
    def rewrite(
        self,
        data: dict[str, Any],
        texts: Mapping[tuple[int, str], str],
        choices: Mapping[int, Finding | None],
        explain: bool = False,
    ) -> bool:
        """Put other texts into an event, end the halted `choices` (None: take them out). False if nothing is left."""

    @abstractmethod
    def canned(self, exchange: Exchange, message: str) -> list[dict[str, Any]]:
        """A whole answer that says `message`: one body, or the events of a stream."""

    @abstractmethod
    def error(self, fault: Fault) -> dict[str, Any]:
        """The error body that this surface's SDKs understand."""
