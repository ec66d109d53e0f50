"""Surfaces turn wire formats into nouns and back. Pure: no I/O, no rules.

A surface is one file with a class `Plug(Surface)`. It must find every text that a client would be shown, also in
fields it has never heard of: a guard that skips what it does not know has holes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
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
    session: str = ""  # what the client calls its session in a field that only this format has


class Reading(NamedTuple):
    """What an event says: its texts in order, the choices that end with it and why, and what else matters."""

    pieces: Sequence[Piece]
    ends: Mapping[int, str]
    usage: Usage | None = None
    failed: bool = False  # it is the upstream's own report of an error


class Token(NamedTuple):
    """A token of an answer, and how unlikely it was, in nats."""

    text: str
    surprise: float


class Asking(NamedTuple):
    """A request of our own: where it goes, and its body. `optional` are fields that we ask for and the client did not:
    an endpoint that refuses them is asked without."""

    path: str
    body: dict[str, Any]
    optional: Sequence[str] = ()


class Continuation(NamedTuple):
    """How an answer goes on. `instruct`: told to, for endpoints that can't just continue a text."""

    kept: str
    choice: int = 0
    tokens: int = 0  # of what is kept
    instruct: bool = False
    tell: str = ""  # an instruction that only the model reads
    ban: Sequence[str] = ()  # what it must not say


class Outward(ABC):
    """One answer in the upstream's format, told to a client that speaks another. Only what was judged comes here."""

    @abstractmethod
    def events(self, data: Mapping[str, Any]) -> list[bytes]:
        """What an event of the stream is to the client: its events as bytes, none if it tells nothing yet."""

    @abstractmethod
    def finish(self) -> list[bytes]:
        """The events that end the stream; none if it has ended with a fault. Nothing follows them."""

    @abstractmethod
    def fault(self, fault: Fault) -> bytes:
        """The stream ends here, and why."""

    @abstractmethod
    def whole(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """A whole answer as the client's body."""

    def ping(self) -> bytes:
        """What tells the client that work goes on; nothing where a comment of the stream does."""
        return b""


class Surface(ABC):
    """One wire format.

    A surface whose clients speak what no upstream does names another as its `upstream_path`: `admit`, `error`,
    `their_error` and `outward` speak to the client, all else is about what goes to the upstream and comes from it.
    """

    name: ClassVar[str]
    paths: ClassVar[Sequence[str]]
    upstream_path: ClassVar[str] = ""  # where the upstream is asked; empty: at the client's own path
    answer: ClassVar[str]  # the channel in which an answer stands

    @abstractmethod
    def admit(self, body: Mapping[str, Any]) -> Asked:
        """Understand a request body; BadRequest names the field that is wrong."""

    def asked(self, body: Mapping[str, Any]) -> Asked:
        """Understand a body that goes upstream."""
        return self.admit(body)

    @abstractmethod
    def upstream_body(self, exchange: Exchange, body: Mapping[str, Any]) -> dict[str, Any]:
        """The body that goes upstream: fields that only the gateway may set are removed, usage is asked for."""

    @abstractmethod
    def read(self, data: Mapping[str, Any]) -> Reading:
        """Understand a stream event or a whole answer; UpstreamFault if it is neither."""

    @abstractmethod
    def metered(self, body: Mapping[str, Any]) -> dict[str, Any] | None:
        """The body that goes upstream, with log probabilities asked for; None if it asks for them itself."""

    @abstractmethod
    def tokens(self, data: Mapping[str, Any], take: bool) -> dict[int, Sequence[Token]]:
        """The tokens that each choice of an event or a whole answer says, so far as it tells; `take`: out of it."""

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
    def append(self, data: dict[str, Any], choice: int, text: str, note: Mapping[str, Any] | None = None) -> None:
        """Let the event that ends a choice (or the whole answer) say more, with a note for programs beside it."""

    @abstractmethod
    def billed(self, data: dict[str, Any], more: Usage) -> None:
        """Add to the usage that an event or a whole answer tells, if it tells any."""

    @abstractmethod
    def free(self, body: Mapping[str, Any]) -> bool:
        """Whether the answer asked for is free text, so that words may be put to it."""

    @abstractmethod
    def review(self, body: Mapping[str, Any], answer: str, instruction: str) -> Asking:
        """The same conversation, its answer, and then an instruction on it: all before that begins as it did."""

    @abstractmethod
    def resume(self, body: Mapping[str, Any], more: Continuation) -> Asking:
        """A call in which an answer goes on from what stands of it."""

    @abstractmethod
    def opens(self, data: Mapping[str, Any]) -> bool:
        """Whether an event says who speaks, which clients must hear even if nothing else of it is left."""

    @abstractmethod
    def spoken(self, head: Mapping[str, Any], choice: int, text: str) -> dict[str, Any]:
        """An event like `head` in which a choice says a text."""

    @abstractmethod
    def resumed(self, data: dict[str, Any], head: Mapping[str, Any], choice: int) -> None:
        """Tell an event of such a call as one of the first, whose first event was `head`."""

    @abstractmethod
    def unended(self, data: dict[str, Any], choices: Collection[int]) -> None:
        """Let these choices not end with this event: they were cut back, and will go on."""

    @abstractmethod
    def reckoned(self, data: dict[str, Any], usage: Usage, attempts: int, wasted: int) -> None:
        """Put the usage of the whole answer in the place of one call's."""

    @abstractmethod
    def assembled(self, events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The whole answer that these events of a stream are."""

    @abstractmethod
    def canned(self, exchange: Exchange, message: str) -> list[dict[str, Any]]:
        """A whole answer that says `message`: one body, or the events of a stream."""

    @abstractmethod
    def error(self, fault: Fault) -> dict[str, Any]:
        """The error body that this surface's SDKs understand."""

    def their_error(self, status: int, told: dict[str, Any]) -> dict[str, Any]:
        """An upstream's own error body, as this surface's SDKs understand it."""
        return told

    def outward(self, exchange: Exchange, body: Mapping[str, Any]) -> Outward | None:
        """What tells the answer to a client that asked with this body; None if it may have it as it is."""
        return None
