"""What requests say: fields of the kinds they must have, and the texts inside them with where these stand."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypeVar

from gateway import leaves
from gateway.errors import BadRequest
from gateway.types import Text

# Keys under which no text stands that a reader sees: names of things, and media that are never opened here.
NOT_TEXT = frozenset(
    {
        "role",
        "id",
        "type",
        "object",
        "tool_call_id",
        "url",
        "data",
        "file_data",
        "file_id",
        "format",
        "detail",
    }
)
OURS = ("kv_transfer_params", "cache_salt")  # only the gateway may set these
MOST_CHOICES = 128
T = TypeVar("T")
Path = leaves.Path


def field(body: Mapping[str, Any], name: str, kind: type[T], default: T) -> T:
    """`body[name]`, which must be of `kind`; null and absent mean `default`."""
    value = body.get(name)
    if value.__class__ is kind:
        return value
    if value is None:
        return default
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise BadRequest(f"`{name}` must be of type {kind.__name__}, not {type(value).__name__}", param=name)
    return value


def choices_asked(body: Mapping[str, Any]) -> int:
    count = field(body, "n", int, 1)
    if not 1 <= count <= MOST_CHOICES:
        raise BadRequest(f"`n` must be from 1 to {MOST_CHOICES}", param="n")
    return count


def wants_usage(body: Mapping[str, Any]) -> bool:
    options: dict[str, Any] = field(body, "stream_options", dict, {})
    return field(options, "include_usage", bool, False)


def found(value: Any, path: Path, role: str, skip: Collection[str] = NOT_TEXT) -> Iterator[Text]:
    """The texts inside a value that stands at `path` of the body."""
    yield from (Text((*path, *inner), role, text) for inner, text in leaves.texts(value, skip))


def together(parts: Any, path: Path, role: str) -> Iterator[Text]:
    """Texts in a row as the model reads them: as one."""
    if isinstance(parts, list):
        texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
        if len(texts) > 1:
            yield Text(path, role, "\n".join(texts), whole=False)


def beside(body: Mapping[str, Any], names: Collection[str]) -> Iterator[Text]:
    """The texts of fields that stand beside the conversation, and that the model reads all the same."""
    for name in sorted(body.keys() & set(names)):
        yield from found(body[name], (name,), "request")
