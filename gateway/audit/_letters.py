"""What the gateway and its clerk write to each other, over a pair of sockets that nobody else holds.

To the clerk: frames, each with its length before it. `Begin` first; then `Standing` and `Batch` in any order; `End`
when the gateway ends as it should. Batches come with the traffic and are told by msgspec, which takes a third of the
time that pickle does. Back: a line of JSON each for what became of lines, and for what is to be logged.
"""

from __future__ import annotations

import pickle
import socket
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import orjson
from msgspec import Raw
from msgspec.msgpack import Decoder, Encoder

from gateway.audit._log import Bounds
from gateway.audit._row import Handed
from gateway.audit._words import Policy

_LENGTH = struct.Struct("!I")
_PIECE = 1 << 20


class Begin(NamedTuple):
    """Where to write, and how. Another clerk may have come to his end before this one: then so many lines of what
    follows may stand in the log already, and of the first batch so many are known to."""

    folder: Path
    bounds: Bounds
    again: int = 0
    skip: int = 0


class Standing(NamedTuple):
    """A configuration: what of words may be written from now on, and its own line, which stands in each file."""

    policy: Policy
    house: Mapping[str, Any]


class Batch(NamedTuple):
    """What is to be written: fields of a `Row`, or a line as it is; most arrive `Raw`. `lost`: lines that found no room
    before it."""

    rows: Sequence[Handed]
    lost: int = 0


class _Arrived(NamedTuple):
    rows: list[Raw]
    lost: int


class End(NamedTuple):
    """Nothing follows."""


Letter: TypeAlias = Begin | Standing | Batch | End


_PICKLED = 0x80  # what every pickle begins with, and no batch
_BATCH, _ARRIVED = Encoder(), Decoder(_Arrived)


def written(letter: Letter) -> bytes:
    """TypeError or ValueError if it holds what can't be told."""
    if not isinstance(letter, Batch):
        return pickle.dumps(letter, protocol=5)
    try:
        return _BATCH.encode(letter)
    except UnicodeEncodeError:  # a header may hold bytes that are no text
        return pickle.dumps(letter, protocol=5)
    except (OverflowError, RecursionError) as fault:
        raise ValueError(*fault.args) from fault


def framed(told: bytes) -> tuple[bytes, bytes]:
    """A letter as it is sent: its length goes before it, and none of it is copied."""
    return _LENGTH.pack(len(told)), told


class Inbox:
    """Letters as they come, from our own parent, whom we trust."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock, self._data = sock, bytearray()

    def read(self) -> Letter | None:
        """The next one; None if the other side is no more."""
        head = self._take(_LENGTH.size)
        told = self._take(_LENGTH.unpack(head)[0]) if head else None
        if told is None:
            return None
        return _read(told)

    def _take(self, size: int) -> bytes | None:
        while len(self._data) < size:
            try:
                more = self._sock.recv(_PIECE)
            except ConnectionResetError:
                continue  # it left without having read all that we said; it is told once, and its last words follow
            if not more:
                return None
            self._data += more
        taken = bytes(self._data[:size])
        del self._data[:size]
        return taken


def _read(told: bytes) -> Letter:
    if told[0] != _PICKLED:
        return Batch(*_ARRIVED.decode(told))
    letter: Letter = pickle.loads(told)
    return letter


class News(NamedTuple):
    """What became of so many lines (`written`, `lost`), or that a try `failed`; else words for the gateway's log."""

    event: str
    lines: int = 0
    level: int = 0
    words: str = ""


def line(news: News) -> bytes:
    return orjson.dumps([*news]) + b"\n"


def news(line: bytes) -> News:
    return News(*orjson.loads(line))
