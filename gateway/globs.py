"""Names in which `*` and `?` stand for others, as YAML says them: one, or a list of which any may fit."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


Globs = Annotated[
    tuple[Annotated[str, Field(min_length=1)], ...],
    BeforeValidator(_listed),
    Field(min_length=1),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}),
]


def fits(name: str, globs: Iterable[str]) -> bool:
    """Whether any of them fits a name."""
    return any(fnmatchcase(name, glob) for glob in globs)
