"""What the stages of the road note of an exchange whose trace is wanted: each stretch, where it lay, and a few facts.

A stage finds the trace by the task that works for the exchange, and whatever that task begins inherits it; so nobody
hands it on, and where none is wanted a stage costs no more than a look at a variable. Facts are words of ours, names
from the configuration and numbers: never what a client or a model wrote.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from contextvars import ContextVar, Token
from time import perf_counter
from typing import NamedTuple, Self

from gateway import traceparent

MOST = 256  # marks of one trace; what comes later is counted alone

Fact = str | int | float | bool | tuple[str, ...]

_PLACE: ContextVar[Stage | None] = ContextVar("place", default=None)


class Mark(NamedTuple):
    """A stretch of the road that is over. Times are `perf_counter`'s seconds; `fault` is a short word, no message."""

    name: str
    start: float
    end: float
    id: int
    parent: int
    facts: Mapping[str, Fact]
    fault: str = ""


class Trace:
    """The marks of one exchange under way. `root` names the exchange itself among them."""

    __slots__ = ("caller", "facts", "heard", "id", "lost", "marks", "over", "root", "sums")

    def __init__(self, caller: traceparent.Caller | None = None) -> None:
        self.caller = caller
        self.id = caller.trace if caller else new(128)
        self.root = new(64)
        self.marks: list[Mark] = []
        self.lost = 0
        self.facts: dict[str, Fact] = {}  # of the exchange as a whole
        self.heard: dict[str, None] = {}  # what its answer holds, see tracing/intent.py
        self.sums: dict[str, float] = {}
        self.over = False

    @property
    def name(self) -> str:
        """The trace's name, as headers and those who keep traces write it."""
        return f"{self.id:032x}"

    def add(self, mark: Mark) -> None:
        """Note it, unless the trace is over or full."""
        if self.over or len(self.marks) >= MOST:
            self.lost += 1
        else:
            self.marks.append(mark)


class Quiet:
    """A stage of an exchange that nobody traces."""

    __slots__ = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, fault: BaseException | None, _at: object) -> None:
        """Nothing was noted."""

    def note(self, **facts: Fact) -> None:
        """Facts of this stage; later ones of the same name count."""

    def end(self, fault: BaseException | None = None) -> None:
        """It is over, and by this fault if any. Only the first end counts."""

    def carried(self, headers: Mapping[str, str]) -> Mapping[str, str]:
        """The headers of a call that this stage makes."""
        return headers


class Stage(Quiet):
    """A stage that is noted. As a context it is where the stages within it belong; `end` alone does as well."""

    __slots__ = ("_begun", "_ended", "_facts", "_id", "_name", "_parent", "_token", "trace")

    def __init__(self, name: str, trace: Trace, parent: int, facts: dict[str, Fact], id: int = 0) -> None:
        self.trace = trace
        self._name, self._parent, self._facts, self._id = name, parent, facts, id or new(64)
        self._token: Token[Stage | None] | None = None
        self._ended = False
        self._begun = perf_counter()

    def __enter__(self) -> Self:
        self._token = _PLACE.set(self)
        return self

    def __exit__(self, _kind: object, fault: BaseException | None, _at: object) -> None:
        if self._token is not None:
            _PLACE.reset(self._token)
        self.end(fault)

    def within(self, name: str, facts: dict[str, Fact]) -> Stage:
        """A stage of this one."""
        return Stage(name, self.trace, self._id, facts)

    def note(self, **facts: Fact) -> None:
        self._facts.update(facts)

    def end(self, fault: BaseException | None = None) -> None:
        if not self._ended:
            self._ended = True
            why = _word(fault) if fault is not None else ""
            mark = Mark(self._name, self._begun, perf_counter(), self._id, self._parent, self._facts, why)
            self.trace.add(mark)

    def carried(self, headers: Mapping[str, str]) -> Mapping[str, str]:
        kept = {name: value for name, value in headers.items() if name not in (traceparent.PARENT, traceparent.STATE)}
        caller = self.trace.caller
        return {**kept, **traceparent.told(self.trace.id, self._id, caller.state if caller else "")}


_QUIET = Quiet()


def begin(trace: Trace | None) -> None:
    """What this task does from now on belongs to this trace, or to none."""
    _PLACE.set(Stage("", trace, 0, trace.facts, trace.root) if trace is not None else None)


def under_way() -> Trace | None:
    """The trace that this task works for."""
    place = _PLACE.get()
    return None if place is None or place.trace.over else place.trace


def stage(name: str, **facts: Fact) -> Quiet:
    """A stage that begins now."""
    place = _PLACE.get()
    return _QUIET if place is None or place.trace.over else place.within(name, facts)


def note(**facts: Fact) -> None:
    """Facts of the stage that this task is in."""
    place = _PLACE.get()
    if place is not None:
        place.note(**facts)


def carried(headers: Mapping[str, str]) -> Mapping[str, str]:
    """The headers of a call that is made by the stage that this task is in."""
    place = _PLACE.get()
    return headers if place is None or place.trace.over else place.carried(headers)


def tally(**sums: float) -> None:
    """Numbers to be added up over the whole exchange."""
    trace = under_way()
    if trace is not None:
        for name, more in sums.items():
            trace.sums[name] = trace.sums.get(name, 0.0) + more


def _word(fault: BaseException) -> str:
    """What a fault is called: by itself, or by its class. Its message may hold more than a trace should."""
    said = getattr(fault, "kind", None) or getattr(fault, "code", None)
    return said if isinstance(said, str) else type(fault).__name__


def new(bits: int) -> int:
    """A name for a trace or a span: it must not be 0. It is no secret."""
    return random.getrandbits(bits) or 1
