"""Backends speak to an endpoint: a call goes in, an answer comes back in whatever pieces it was sent.

A backend is one file with a class `Plug(BackendSpec)`: what YAML says of it, and `connect()`, which makes the living
thing. Nothing here judges; nothing here knows a surface.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from typing import NamedTuple, Protocol

from pydantic import Field

from gateway.plug import Strict

Observe = Callable[[str, str], None]  # (backend, kind of fault): what metrics count


class Call(NamedTuple):
    """One request to the endpoint. Headers are those that may be passed on; credentials are the backend's own."""

    method: str
    path: str
    body: bytes
    headers: Mapping[str, str]


class Answer(Protocol):
    """What the endpoint says. `close` must always be called: it ends the upstream's work if it is not done."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    def chunks(self) -> AsyncIterator[bytes]:
        """The body as it comes. UpstreamFault if it breaks or stalls."""
        ...

    async def read(self, limit: int) -> bytes:
        """The whole body, at most `limit` bytes."""
        ...

    def close(self) -> None: ...


class Backend(Protocol):
    """A living backend."""

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
