"""W3C trace context, level 1: the place in a trace that a caller names, and how the next one is told of ours.

https://www.w3.org/TR/trace-context/: a `traceparent` that can't be read begins a new trace, and its `tracestate` goes
with it; a `tracestate` that can't be read is left out alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

PARENT = "traceparent"
STATE = "tracestate"
LONGEST = 1024  # characters of a `tracestate`; one that is longer is left out

_PARENT = re.compile(r"([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?", re.ASCII).fullmatch
_KEY = r"(?:[a-z][a-z0-9_\-*/]{0,255}|[a-z0-9][a-z0-9_\-*/]{0,240}@[a-z][a-z0-9_\-*/]{0,13})"
_MEMBER = re.compile(rf"{_KEY}=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{{0,255}}[\x21-\x2b\x2d-\x3c\x3e-\x7e]", re.ASCII).fullmatch
_MEMBERS = 32
_SAMPLED = 1


class Caller(NamedTuple):
    """Where in which trace a caller stands. `sampled`: it records this trace. `state`: what vendors add to it."""

    trace: int
    span: int
    sampled: bool
    state: str = ""


def caller(headers: Mapping[str, str]) -> Caller | None:
    """What the headers of a request say of it; None if they say nothing that holds."""
    told = headers.get(PARENT)
    found = _PARENT(told.strip()) if told and len(told) <= LONGEST else None
    if found is None:
        return None
    version, trace, span, flags, more = found.groups()
    if version == "ff" or (version == "00" and more is not None):
        return None
    if not int(trace, 16) or not int(span, 16):
        return None
    return Caller(int(trace, 16), int(span, 16), bool(int(flags, 16) & _SAMPLED), state(headers.get(STATE, "")))


def state(told: str) -> str:
    """A `tracestate` that can be passed on as it is; empty if it can't be read."""
    members = [member for part in told.split(",") if (member := part.strip())] if len(told) <= LONGEST else []
    keys = {member.partition("=")[0] for member in members}
    fits = len(members) <= _MEMBERS and len(keys) == len(members) and all(map(_MEMBER, members))
    return ",".join(members) if fits else ""


def told(trace: int, span: int, state: str) -> dict[str, str]:
    """The headers that make a span of a trace that is recorded the parent of what the next one does."""
    parent = {PARENT: f"00-{trace:032x}-{span:016x}-01"}
    return {**parent, STATE: state} if state else parent
