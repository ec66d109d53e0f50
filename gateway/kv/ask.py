"""`kv_transfer_params.retrace` of a request: JSON of anybody's making in, an Ask out.

Nothing is guessed. A field that isn't known is refused by its name: a typing error in `sensitive` must not pass for
consent to use what it meant to keep out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any

from gateway.kv.nouns import OPEN_END, After, Ask, Mode, Recompute

MOST_FIRST = 100_000  # tokens recomputed at the beginning of a span
MOST_SPANS = 1_000  # sensitive spans that a request may name
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class BadAsk(ValueError):
    """A request's parameters make no sense; the message names the field and says what it must be."""


def parse(params: object) -> Ask | None:
    """What a request asks for in its `kv_transfer_params`, any JSON: None if that has no `retrace`, or null there.

    Without a donor the mode is none, whatever mode is named. BadAsk for all that is malformed.
    """
    asked = params.get("retrace") if isinstance(params, Mapping) else None
    if asked is None:
        return None
    values = _read(asked, "retrace", _FIELDS)
    if values.get("donor") is None:
        values["mode"] = Mode.NONE
    return Ask(**{"mode": Mode.PREFIX, **values})


def merge(spans: Iterable[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The same positions in order, what overlaps or touches made one."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            start, before = merged.pop()
            end = max(before, end)
        merged.append((start, end))
    return tuple(merged)


# What a field is called in the Ask, and how its value is read: a function of the value and of the field's full name.
_Fields = Mapping[str, tuple[str, Callable[[object, str], Any]]]


def _read(value: object, name: str, fields: _Fields) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise BadAsk(f"{name} must be an object with any of the fields {', '.join(fields)}")
    unknown = next((field for field in value if field not in fields), None)
    if unknown is not None:
        raise BadAsk(f"{name} has an unknown field {unknown!r:.80}; it may have {', '.join(fields)}")
    read = {}
    for field, given in value.items():
        key, reader = fields[field]
        read[key] = reader(given, f"{name}.{field}")
    return read


def _id(value: object, name: str) -> str | None:
    if value is None or (isinstance(value, str) and _ID.fullmatch(value)):
        return value
    raise BadAsk(f"{name} must be 1 to 64 letters, digits, '_' or '-', or null")


def _word(kind: type[StrEnum]) -> Callable[[object, str], StrEnum]:
    words = {word.value: word for word in kind}

    def read(value: object, name: str) -> StrEnum:
        if isinstance(value, str) and value in words:
            return words[value]
        raise BadAsk(f"{name} must be one of {', '.join(words)}")

    return read


def _whole(value: object) -> int | None:
    """A number if it is one without a fraction: JSON's true and 1.0 are not."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _first(value: object, name: str) -> int:
    number = _whole(value)
    if number is None or not 0 <= number <= MOST_FIRST:
        raise BadAsk(f"{name} must be a whole number of tokens from 0 to {MOST_FIRST}")
    return number


def _share(value: object, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise BadAsk(f"{name} must be a number from 0 to 1")
    return float(value)


def _recompute(value: object, name: str) -> Recompute:
    return Recompute(**_read(value, name, {"first": ("first", _first), "share": ("share", _share)}))


def _sensitive(value: object, name: str) -> tuple[tuple[int, int], ...]:
    if not isinstance(value, list) or len(value) > MOST_SPANS:
        raise BadAsk(f"{name} must be a list of at most {MOST_SPANS} spans [start, end]")
    return merge(_span(span, f"{name}[{index}]") for index, span in enumerate(value))


def _span(value: object, name: str) -> tuple[int, int]:
    """Its end null: as far as the capture goes."""
    start = end = None
    match value:
        case [first, last]:
            start = _whole(first)
            end = OPEN_END if last is None else _whole(last)
    if start is None or end is None or not 0 <= start < end <= OPEN_END:
        raise BadAsk(f"{name} must be [start, end], whole numbers, 0 <= start < end <= {OPEN_END}, or end null")
    return start, end


def _least(value: object, name: str) -> int:
    number = _whole(value)
    if number is None or number < 1:
        raise BadAsk(f"{name} must be a whole number of tokens, 1 or more")
    return number


def _flag(value: object, name: str) -> bool:
    if not isinstance(value, bool):
        raise BadAsk(f"{name} must be true or false")
    return value


_FIELDS: _Fields = {
    "capture": ("capture", _id),
    "donor": ("donor", _id),
    "mode": ("mode", _word(Mode)),
    "recompute": ("recompute", _recompute),
    "after_sensitive": ("after_sensitive", _word(After)),
    "sensitive": ("sensitive", _sensitive),
    "min_tokens": ("least", _least),
    "ban": ("ban", _flag),
    "owner": ("owner", _id),
    "record": ("record", _flag),
}
