"""One request of a log, as far as its line tells; and how the shapes that many logs share are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple, TypeAlias

MILLISECONDS = 1e11  # seconds of the year 5138: a larger number counts something smaller


class Line(NamedTuple):
    """None is what the line does not tell. Sizes are bytes of UTF-8 text, `prompt` and `completion` tokens.

    `body` is the request, for comparing it with others; `question` and `answer` are what was asked last and said.
    `way` is how a second reading went.
    """

    at: float | None = None  # seconds since 1970
    rejected: bool | None = None
    tenant: str = ""
    body: Mapping[str, Any] | None = None
    asked: int | None = None
    said: int | None = None
    prompt: int | None = None
    completion: int | None = None
    question: str = ""
    answer: str = ""
    way: str = ""


NOTHING = Line()  # a line that was understood and is on no request

Told: TypeAlias = Mapping[str, Any]
Read: TypeAlias = Callable[[bytes, Told | None], "Line | None"]


class Format(NamedTuple):
    """How lines are written: `read` gives None for a line that is of another format. `told` is its JSON object, if it
    is one."""

    name: str
    en: str
    zh: str
    read: Read
    doubt_en: str = ""  # why its share of rejected requests may be wrong
    doubt_zh: str = ""


def size(text: str) -> int:
    return len(text.encode(errors="replace"))


def texts(value: object) -> Iterator[str]:
    """All that is said in a message, an answer or a list of either, whatever its shape."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from texts(one)
    elif isinstance(value, dict):
        for name in ("text", "content", "input", "output", "arguments"):
            if value.get(name) is not None:
                yield from texts(value[name])


def time(value: object) -> float | None:
    """Seconds since 1970, of a number (seconds or less) or an ISO text."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return _number(float(value))
    if isinstance(value, str):
        try:
            return _number(float(value))
        except ValueError:
            return _iso(value)
    return None


def _number(value: float) -> float | None:
    while value > MILLISECONDS:
        value /= 1000
    return value if value > 0 else None


def _iso(text: str) -> float | None:
    try:
        read = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp()


def count(value: object) -> int | None:
    """A number of tokens or bytes."""
    if isinstance(value, str) and value.isdigit():
        return int(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
        return int(value)
    return None


def first(told: Told, *names: str) -> Any:
    """The first of these fields that says something."""
    return next((told[name] for name in names if told.get(name) is not None), None)
