"""What waits for a person's look, as a value and as one line of JSON, and what a queue of them tells of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Protocol

import orjson

Observe = Callable[[str], None]  # a word for what went wrong or was lost; once for each

LONGEST = 32_768  # characters of a question or an answer that are kept
SPANS = 100
VERDICTS = ("right", "wrong", "unclear")
NOTED = 2000  # characters of a reviewer's note


@dataclass(frozen=True, slots=True)
class Entry:
    """An answer that a person should look at: whose, why (stable words), and what in it is to be verified.

    `time` is seconds of the epoch; `spans` are (start, end, kind) of the answer.
    """

    id: str
    time: float
    tenant: str
    surface: str
    model: str
    why: tuple[str, ...]
    language: str
    question: str
    answer: str
    spans: tuple[tuple[int, int, str], ...] = ()
    domain: str = ""


class Waiting(NamedTuple):
    """An entry in a queue, what to call it there, and who has taken it and when; "" and 0 if nobody has."""

    ticket: str
    entry: Entry
    reviewer: str = ""
    since: float = 0.0


class Listing(NamedTuple):
    """What was found, the oldest first, and how many lines could not be read."""

    waiting: tuple[Waiting, ...]
    unread: int = 0


class QueueFault(Exception):
    """A queue can't be read or written; `kind` says why, in a stable word."""

    def __init__(self, kind: str, said: str = "") -> None:
        super().__init__(said or kind)
        self.kind = kind


class Sink(Protocol):
    """Where entries go."""

    async def write(self, lines: Sequence[bytes]) -> int:
        """Write all; how many old entries had to go for them. QueueFault if they are not written."""
        ...

    async def close(self) -> None: ...


class Reviewing(Protocol):
    """What a person's tool does with a queue, beside the gateways that fill it. QueueFault if it can't be reached."""

    async def pending(self, most: int = 100) -> Listing:
        """What nobody has dealt with, taken or not."""
        ...

    async def take(self, most: int, reviewer: str) -> Listing:
        """So many for this reviewer: first what is his already, then what others have left lying, then new ones.

        ValueError if he has no name."""
        ...

    async def done(self, ticket: str, verdict: str, note: str = "", reviewer: str = "") -> bool:
        """It is dealt with; false if it is not there. ValueError if the verdict is none of VERDICTS."""
        ...


def pack(entry: Entry) -> bytes:
    """One line of JSON without its end; what is too long is cut."""
    fields = asdict(entry) | {"question": entry.question[:LONGEST], "answer": entry.answer[:LONGEST]}
    fields["spans"] = [[*span] for span in entry.spans if span[1] <= LONGEST][:SPANS]
    try:
        return orjson.dumps(fields)
    except orjson.JSONEncodeError:  # half a character, which JSON in UTF-8 can't hold
        whole = {name: _whole(value) if isinstance(value, str) else value for name, value in fields.items()}
        return orjson.dumps(whole)


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def unpack(line: bytes) -> Entry:
    """The entry; ValueError if this is no line of one."""
    try:
        return entry_of(orjson.loads(line))
    except (TypeError, KeyError) as fault:
        raise ValueError("no packed entry") from fault


def entry_of(fields: Any) -> Entry:
    """The entry that was these fields; TypeError, KeyError or ValueError if they are none."""
    spans = tuple((int(start), int(end), str(kind)) for start, end, kind in fields["spans"])
    entry = Entry(**{**fields, "why": tuple(fields["why"]), "spans": spans})
    if not (isinstance(entry.id, str) and isinstance(entry.answer, str) and isinstance(entry.time, int | float)):
        raise ValueError("no packed entry")
    return entry


def checked(verdict: str, note: str) -> str:
    """The note as it is kept; ValueError if the verdict is no word for one."""
    if verdict not in VERDICTS:
        raise ValueError(f"a verdict is one of: {', '.join(VERDICTS)}")
    return _whole(note[:NOTED])


def check_name(reviewer: str) -> None:
    """ValueError if a reviewer can't be called so."""
    if not 0 < len(reviewer) <= 128 or not reviewer.isprintable():
        raise ValueError("a reviewer has a name, of 128 characters at most")
