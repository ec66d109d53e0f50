"""Stores know what engines keep: the sketch of a request goes in, captures that have something in common come out.

A store is one file with a class `Plug(StoreSpec)`: what YAML says of it, and `connect()`, which makes the living thing.
A store finds, it does not decide: whoever asks compares the sketches (donors.py), and the engine compares the tokens.
Sketches hold hashes alone, no text, and nothing is ever looked up across two `whose`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from gateway.plug import Strict

Observe = Callable[[str], None]  # kind of fault: what metrics count

WIDTH = 8  # bytes of one hash


class Near(NamedTuple):
    """How near similarity codes must be: of their `bits` lowest bits at most `radius` differ."""

    bits: int = 64
    radius: int = 3


NEAR = Near()


class Sketch(NamedTuple):
    """A request's prompt as hashes. It is cut into chunks where its content says so, so equal texts have equal cuts.

    `chunks` holds the hash of each chunk's own content, `prefix` that of all from the start to the chunk's end: 8 bytes
    each, little endian, one behind the other. `sizes` are the chunks' bytes of text. `codes` are 64-bit similarity
    codes of the question, one a kind, always in the same order; empty if there are none.
    """

    whose: bytes  # tenant, model and adapter, hashed
    chunks: bytes
    prefix: bytes
    sizes: tuple[int, ...]
    codes: tuple[int, ...] = ()


class Kept(NamedTuple):
    """A capture that an engine has confirmed to keep: where, why, whose session, until when (seconds of the epoch)."""

    capture: str
    replica: str
    reason: str
    session: str
    until: float
    sketch: Sketch


class Store(Protocol):
    """A living store. None of this ever raises for a fault of the store, or takes longer than its time limit."""

    @property
    def up(self) -> bool:
        """Whether it answers, as far as is known."""
        ...

    async def start(self) -> None: ...

    async def find(self, sketch: Sketch, near: Near = NEAR) -> Sequence[Kept]:
        """Living captures worth a look, of the same `whose`: those that begin alike for longest, share most chunks, or
        have a code that is near. A handful of each; none if the store can't answer in time."""
        ...

    def add(self, kept: Kept) -> None:
        """Remember it; within a second everybody who shares the store finds it. It displaces what was used least."""
        ...

    def used(self, kept: Kept) -> None:
        """It was of use just now."""
        ...

    def forget(self, kept: Kept) -> None:
        """It is gone from its engine."""
        ...

    async def stop(self) -> None: ...


class StoreSpec(Strict, ABC):
    """What YAML says of every store."""

    type: str

    @abstractmethod
    def connect(self, observe: Observe) -> Store:
        """The living store; nothing is opened before its `start`."""
