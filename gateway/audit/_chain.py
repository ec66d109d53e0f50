"""Lines that hold each other: each says which one it is, and the SHA-256 of the one before.

    {"seq":2,"prev":"<64 hex digits>","at":1700000000.0,"kind":"exchange", ...}

So a line that was changed, taken out or moved is found by whoever reads on. The first line of all follows `GENESIS`.
"""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

GENESIS = "0" * 64
_HEAD = re.compile(rb'\{"seq":([1-9][0-9]{0,17}),"prev":"([0-9a-f]{64})",')


class Link(NamedTuple):
    """A line as the next one knows it."""

    seq: int = 0
    hash: str = GENESIS


class Head(NamedTuple):
    """What a line says of itself: its number, and the hash of the one before."""

    seq: int
    prev: str


def chained(link: Link, told: Mapping[str, Any]) -> tuple[bytes, Link]:
    """The line behind `link`, without its end, and how the next one knows it. TypeError if it can't be JSON."""
    seq = link.seq + 1
    line = b'{"seq":%d,"prev":"%b",%b' % (seq, link.hash.encode(), orjson.dumps(told)[1:])
    return line, Link(seq, hashed(line))


def hashed(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()


def head(line: bytes) -> Head | None:
    """None if it is no line of a chain."""
    match = _HEAD.match(line)
    return Head(int(match[1]), match[2].decode()) if match and line.endswith(b"}") else None


# Captures hold each other as well: what an engine reused of an earlier one stands in its hash.

_SHARED = ("exchange", "capture", "replica", "reason", "verdict", "donor", "mode", "captured", "injected", "recomputed")


def capture_hash(told: Mapping[str, Any], parent: str) -> str:
    """The hash of a capture, over its donor's and what the line says of it."""
    return hashed(orjson.dumps([parent, *(told.get(name) for name in _SHARED)]))


class Lineage:
    """The hashes of the last captures. `most` of them are known, which bounds the memory."""

    def __init__(self, most: int = 100_000) -> None:
        self._most = most
        self._known: OrderedDict[str, str] = OrderedDict()

    def add(self, told: Mapping[str, Any]) -> dict[str, Any]:
        """What the line of a capture says of it: its donor's hash (null if nobody here knows it), and its own."""
        parent = self._known.get(str(told.get("donor") or ""))
        own = capture_hash(told, parent or GENESIS)
        self.note(str(told["capture"]), own)
        return {"prev": parent, "hash": own}

    def note(self, capture: str, own: str) -> None:
        self._known[capture] = own
        self._known.move_to_end(capture)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
