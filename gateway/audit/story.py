"""All that the audit log knows of one exchange: its line, the configuration it was judged by, what was reused and where
that came from, and whether the chain that holds all this is whole."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gateway.audit import _files, proof
from gateway.audit._chain import hashed
from gateway.audit.proof import Chain
from gateway.audit.search import Hop, Line, searching

_ID = re.compile(r"(?:rt-|(?:msg|resp)_)?([0-9a-f]{24})\Z")


class Seal(NamedTuple):
    """Where a line stands, and what it is worth: its hash, and how its chain stood when it was read."""

    file: str
    line: int
    seq: int
    prev: str
    hash: str
    chain: Chain


class Story(NamedTuple):
    """One exchange. `house` is none if its configuration's line made room."""

    exchange: Line
    house: Line | None
    hops: Sequence[Hop]
    seal: Seal


class Steps(NamedTuple):
    """Who is told how far it has come, in bytes: the index, and the reading of the chain."""

    indexing: Callable[[int], None] = lambda _count: None
    proving: Callable[[int], None] = lambda _count: None


_SILENT = Steps()
# What a line leaves out of an exchange in which little happened.
QUIET: Line = {
    "session": "",
    "parameters": {},
    "finish": {},
    "captures": [],
    "findings": [],
    "unlisted": 0,
    "halted": {},
    "attempts": [],
    "refined": {},
}


def name_of(given: str) -> str:
    """The name of an exchange, as its answer's header told it or as the ids of its messages do."""
    match = _ID.match(given.strip())
    return f"rt-{match[1]}" if match else given.strip()


def told(folder: Path, name: str, steps: Steps = _SILENT) -> Story | None:
    """The story of an exchange; none if the log does not hold it. OSError if its files can't be read."""
    with searching(folder, steps.indexing) as search:
        found = search.exchange(name)
        if found is None:
            return None
        exchange, place = found
        house = search.house(str(exchange.get("revision")))
        hops = search.back(name)
    seal = _sealed(folder, place.file, place.place, steps.proving)
    return Story({**QUIET, **exchange}, house[0] if house else None, hops, seal)


def _sealed(folder: Path, file: Path, place: int, progress: Callable[[int], None]) -> Seal:
    line = _files.line_at(file, place)
    chains = {chain.worker: chain for chain in proof.verified(folder, progress)}
    head = proof.head_of(line)
    with file.open("rb") as opened:
        number = opened.read(place).count(b"\n") + 1
    chain = chains[file.name.partition("-")[0]]
    return Seal(file.name, number, head.seq, head.prev, hashed(line), chain)


def reasons(story: Story) -> Mapping[str, Any]:
    """What reason codes meant when the exchange was judged."""
    return story.house.get("reasons", {}) if story.house else {}


def rules(story: Story) -> Mapping[str, Any]:
    """The versions of the rules it was judged by."""
    return story.house.get("rules", {}) if story.house else {}
