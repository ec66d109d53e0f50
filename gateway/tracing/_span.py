"""A span as it leaves: what OpenTelemetry wants to know of it, in our own nouns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from gateway.marks import Fact

Kind = Literal["server", "client", "internal"]


class Event(NamedTuple):
    """Something that happened at a moment of a span, in nanoseconds since 1970."""

    name: str
    at: int


class Span(NamedTuple):
    """A stretch of a trace; times in nanoseconds since 1970. `remote`: the parent is a caller's own span."""

    name: str
    kind: Kind
    trace: int
    id: int
    parent: int
    start: int
    end: int
    attributes: Mapping[str, Fact]
    fault: str = ""  # a short word; none: it went well, or was at least no fault of ours
    events: Sequence[Event] = ()
    remote: bool = False
    state: str = ""
