"""JSON from others: the object in some bytes, the texts inside a value, and the same value with other texts there."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import orjson

Path = tuple[str | int, ...]

DEEPEST = 200  # levels that are looked into: writers of JSON give up soon behind that


def parsed(raw: bytes | bytearray) -> dict[str, Any]:
    """The object that these bytes are in JSON; an empty one if they are anything else."""
    try:
        told = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return {}
    return told if isinstance(told, dict) else {}


def texts(value: Any, skip: Collection[str] = (), path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every non-empty string in `value`, in order; a string right under a key of `skip` is left out.

    RecursionError if it is nested deeper than anything is judged.
    """
    if len(path) > DEEPEST:
        raise RecursionError(f"nested deeper than {DEEPEST} levels")
    if isinstance(value, str):
        if value:
            yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if not (isinstance(inner, str) and key in skip):
                yield from texts(inner, skip, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from texts(inner, skip, (*path, index))


def at(value: Any, path: Path) -> Any:
    """What stands at `path`."""
    for step in path:
        value = value[step]
    return value


def replaced(value: Any, path: Path, other: Any) -> Any:
    """`value` with `other` at `path`; what lies on the way is copied, the rest is shared."""
    if not path:
        return other
    copy = list(value) if isinstance(value, list) else dict(value)
    copy[path[0]] = replaced(copy[path[0]], path[1:], other)  # type: ignore[index]
    return copy
