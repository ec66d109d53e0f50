"""Backends speak to an endpoint: a call goes in, an answer comes back in whatever pieces it was sent.

A backend is one file with a class `Plug(BackendSpec)`: what YAML says of it, and `connect()`, which makes the living
thing. Nothing here judges; nothing here knows a surface.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Literal, NamedTuple, Protocol

from pydantic import Field

from gateway.plug import Strict

Observe = Callable[[str, str], None]  # (backend, kind of fault): what metrics count


class Donor(NamedTuple):
    """A capture whose KV an exchange may use; only the replica at this address holds it."""

    capture: str
    replica: str
    mode: str
    terms: Mapping[str, Any]  # how it may be used, in the plugin's words


class Outcome(NamedTuple):
    """What became of a capture, and what the plugin reports of the request that made it (None: it said nothing)."""

    capture: str
    replica: str
    verdict: Literal["kept", "dropped", "gone", "failed", "lost"]
    reason: str
    report: Mapping[str, Any] | None


def _nobody(_outcome: Outcome) -> None:
    """Whom nothing is told."""


def _unfinished(capture: Capture) -> None:
    capture.drop("unfinished")


class Plan(NamedTuple):
    """What only a replica with the plugin understands; no other ever sees it.

    `salt` keeps the prefix caches of tenants apart. With `captures` each try at the request makes a capture, and `told`
    hears once of each what became of it, as a rule after the exchange is over. `torn` gives the verdict on one whose
    call ended before it was answered. `replica` is the one that is wished for where no donor names one; `more` is asked
    beside all that, in the plugin's words.
    """

    salt: str
    captures: bool = False
    donor: Donor | None = None
    told: Callable[[Outcome], None] = _nobody
    torn: Callable[[Capture], None] = _unfinished
    replica: str = ""
    more: Mapping[str, Any] = {}


class Call(NamedTuple):
    """One request to the endpoint. Headers are those that may be passed on; credentials are the backend's own.

    With a plan, the body is a JSON object that is not empty.
    """

    method: str
    path: str
    body: bytes
    headers: Mapping[str, str]
    plan: Plan | None = None


class Capture(Protocol):
    """What a replica holds of a request until it hears a verdict. The first one counts; others change nothing."""

    report: Mapping[str, Any] | None  # what the answer itself said of it

    @property
    def asked(self) -> Mapping[str, Any]:
        """What the replica was asked for: `capture` (its name), `donor` (or null), `mode`."""
        ...

    def keep(self, reason: str, terms: Mapping[str, Any]) -> None:
        """Keep it for later requests, on these terms."""
        ...

    def drop(self, reason: str) -> None: ...


class Answer(Protocol):
    """What the endpoint says. `close` must always be called: it ends the upstream's work if it is not done.

    It also drops the capture, unless that has its verdict.
    """

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    @property
    def capture(self) -> Capture | None: ...

    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes. UpstreamFault if it breaks or stalls."""
        ...

    async def read(self, limit: int) -> bytes:
        """The whole body, at most `limit` bytes."""
        ...

    def close(self) -> None: ...


class Backend(Protocol):
    """A living backend. `patched`: one of its replicas has our plugin, so a plan is worth making."""

    @property
    def patched(self) -> bool: ...

    async def start(self) -> None: ...

    async def open(self, call: Call) -> Answer:
        """The answer, once its status is known. UpstreamFault, UpstreamTimeout or Unavailable if there is none."""
        ...

    def healthy(self) -> bool: ...

    async def stop(self) -> None: ...


class BackendSpec(Strict, ABC):
    """What YAML says of every backend."""

    type: str
    name: str = Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,31}$", description="Stands in metrics and errors.")
    models: tuple[str, ...] = Field(
        default=("*",), min_length=1, description="Model names it serves; `*` and `?` allowed."
    )

    @abstractmethod
    def connect(self, observe: Observe) -> Backend:
        """The living backend; nothing is opened before its `start`."""
