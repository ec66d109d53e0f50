"""What a doctor looks for: each symptom is one file with a class `Plug(Symptom)`, pure over facts gathered elsewhere.

A new one is one file and its test: it is found by being there. Where it can't look it says so in grey, never in green.
What it sees it says in English and Chinese, with the fix.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple

from gateway.plug import plugs


class Light(StrEnum):
    """How it stands."""

    GREEN = "green"
    YELLOW = "yellow"
    RED = "red"
    GREY = "grey"  # nobody could look


class Said(NamedTuple):
    """A sentence in both languages."""

    en: str
    zh: str


NOTHING = Said("", "")


class Sign(NamedTuple):
    """One thing that was seen: of what, and what to do."""

    light: Light
    about: str
    seen: Said
    fix: Said = NOTHING


class Reply(NamedTuple):
    """An answer over HTTP. Status 0: there was none, and `why` says it in a word. Clocks are seconds since 1970."""

    status: int = 0
    seconds: float = 0.0
    why: str = ""
    told: Mapping[str, Any] = {}  # its JSON object, if it is one
    clock: float | None = None  # theirs, by the Date header: whole seconds
    ours: float = 0.0  # in the middle of the question


class Configuration(NamedTuple):
    """Whether the files can be served: `wrong` is what is wrong with them, each with file, line and fix."""

    path: str
    wrong: Sequence[str] = ()
    revision: str = ""
    rules: int = 0


class Look(NamedTuple):
    """An engine's own figures at one time. Sums and counts are since it started; None is what it doesn't tell."""

    at: float
    used: float | None = None  # share of the KV cache
    capacity: float | None = None  # of it, in tokens
    running: float = 0.0
    waiting: float = 0.0
    preempted: float = 0.0
    prompts: tuple[float, float] = (0.0, 0.0)  # tokens and requests that have ended
    answers: tuple[float, float] = (0.0, 0.0)


class Replica(NamedTuple):
    """One address of a backend. `plugin` is None where it can have none."""

    backend: str
    url: str
    health: Reply
    plugin: Reply | None = None
    looks: Sequence[Look] = ()


class Server(NamedTuple):
    """A Redis server, and what it serves for. `why` says in a word that it did not answer."""

    use: str
    why: str = ""
    milliseconds: float = 0.0
    policy: str | None = None  # what it does when it is full; None: it doesn't tell
    used: int = 0  # bytes
    most: int = 0  # 0: as many as the machine has
    ahead: float | None = None  # seconds by which its clock is ahead of ours


class Folder(NamedTuple):
    """A folder that somebody writes to. Bytes, and the median of a few small synced writes in milliseconds."""

    use: str
    path: str
    why: str = ""
    free: int = 0
    total: int = 0
    fsync: float | None = None
    memory: bool = False  # it is no disk at all


class Spread(NamedTuple):
    """How values were spread earlier and lately, bin by bin."""

    what: Said
    before: Sequence[int]
    now: Sequence[int]


class Answers(NamedTuple):
    """What was said to clients lately, out of a log: how many answers, how many of them hedge and with which words."""

    source: str
    total: int
    hedging: int
    words: Sequence[tuple[str, int]] = ()
    spreads: Sequence[Spread] = ()
    lacks: str = ""  # why there is no spread of scores


class Feedback(NamedTuple):
    """What clients say of the answers: how many, and how many complain that something is wrong."""

    source: str
    total: int
    complaints: int
    words: Sequence[tuple[str, int]] = ()


class Alert(NamedTuple):
    """One that fires."""

    name: str
    severity: str
    summary: str


class Trend(NamedTuple):
    """Of one engine, as Prometheus remembers it: the share of its KV cache that a running request held."""

    instance: str
    before: float
    now: float


class Facts(NamedTuple):
    """All that was gathered. None is what nobody asked for, or what could not be had."""

    configuration: Configuration
    gateway: Reply | None = None
    address: str = ""
    replicas: Sequence[Replica] = ()
    servers: Sequence[Server] = ()
    folders: Sequence[Folder] = ()
    answers: Answers | None = None
    feedback: Feedback | None = None
    prometheus: Reply | None = None
    alerts: Sequence[Alert] = ()
    trends: Sequence[Trend] = ()


class Symptom(ABC):
    """Something to look for. `order`: where it stands among the others."""

    title: ClassVar[Said]
    order: ClassVar[int]

    @abstractmethod
    def look(self, facts: Facts) -> Iterator[Sign]:
        """What is seen, at least one thing."""


class Finding(NamedTuple):
    """A symptom's word, and what was looked for."""

    symptom: str
    title: Said
    sign: Sign


def examined(facts: Facts) -> list[Finding]:
    """All symptoms, in their order."""
    made = sorted(((kind(), word) for word, kind in plugs("symptoms").items()), key=lambda pair: pair[0].order)
    return [Finding(word, symptom.title, sign) for symptom, word in made for sign in symptom.look(facts)]


def worst(findings: Sequence[Finding]) -> Light:
    """Red before yellow before green; grey counts for nothing."""
    lights = {finding.sign.light for finding in findings}
    return next((light for light in (Light.RED, Light.YELLOW) if light in lights), Light.GREEN)


# What others say is read with care: it may be anything.


def number(value: object) -> float:
    """A number, or 0."""
    return float(value) if isinstance(value, int | float) else 0.0


def table(value: object) -> Mapping[str, Any]:
    """An object, or an empty one."""
    return value if isinstance(value, dict) else {}


def listed(value: object) -> Sequence[Any]:
    """A list, or an empty one."""
    return value if isinstance(value, list) else ()


def grey(about: str, en: str, zh: str, fix: Said = NOTHING) -> Sign:
    """Nobody could look."""
    return Sign(Light.GREY, about, Said(en, zh), fix)


def green(about: str, en: str, zh: str) -> Sign:
    return Sign(Light.GREEN, about, Said(en, zh))
