"""`type: schema`: the answer must be JSON, and fit a JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal, Self

import jsonschema
from jsonschema import validators
from pydantic import Field, ValidationInfo, model_validator

from gateway.checks import Check
from gateway.checks._matcher import searcher
from gateway.types import NEVER, View

_search = lru_cache(maxsize=1024)(searcher)


def _pattern(_validator: Any, pattern: str, text: Any, _schema: Any) -> Iterator[jsonschema.ValidationError]:
    """`pattern` in linear time: jsonschema's own goes through Python's `re`, which a text can stall."""
    if isinstance(text, str) and not _search(pattern)(text):
        yield jsonschema.ValidationError("does not match")


_Validator: Any = validators.extend(jsonschema.Draft202012Validator, {"pattern": _pattern})  # type: ignore[no-untyped-call]


class Plug(Check):
    """Finds the whole answer if it is not JSON of the schema. It can only say so at the end, so it holds everything."""

    type: Literal["schema"] = "schema"
    json_schema: dict[str, Any] | None = Field(default=None, description="The JSON Schema, written here.")
    file: Path | None = Field(default=None, description="Or a JSON file beside the YAML file that holds it.")
    allow_fence: bool = Field(default=True, description="Whether ```json fences around the value are forgiven.")

    @model_validator(mode="after")
    def _valid_schema(self, info: ValidationInfo) -> Self:
        if (self.json_schema is None) == (self.file is None):
            raise ValueError("give either `json_schema` or `file`")
        if self.file is not None:
            path = Path((info.context or {}).get("folder", ".")) / self.file
            object.__setattr__(self, "json_schema", _read(path))
        try:
            jsonschema.Draft202012Validator.check_schema(self.json_schema or {})
        except jsonschema.SchemaError as fault:
            raise ValueError(f"not a JSON Schema: at {fault.json_path}, {fault.message}") from fault
        _assert_works(self.json_schema)
        return self

    @cached_property
    def _validator(self) -> Any:
        return _Validator(self.json_schema or {})

    def look(self, view: View) -> tuple[list[tuple[int, int]], int]:
        if not view.final:
            return [], view.begin
        fits = self._fits(_unfenced(view.text) if self.allow_fence else view.text)
        return [] if fits else [(0, len(view.text))], len(view.text)

    def wake(self, position: int) -> int:
        return NEVER

    def _fits(self, text: str) -> bool:
        try:
            return bool(self._validator.is_valid(json.loads(text, parse_constant=_no_constant)))
        except (ValueError, RecursionError):
            return False


def _unfenced(text: str) -> str:
    """What stands between the fences of a code block that is the whole answer; else the text itself."""
    bare = text.strip()
    opening, newline, rest = bare.partition("\n")
    is_block = newline and opening.rstrip() in ("```", "```json") and rest.endswith("```")
    return rest[:-3] if is_block else text


def _assert_works(schema: Any) -> None:
    """ValueError if it could only fail at work: references to what is not there, patterns that could stall."""
    for inner in _inside(schema):
        reference, pattern = inner.get("$ref"), inner.get("pattern")
        if isinstance(reference, str) and not _there(schema, reference):
            raise ValueError(
                f"`$ref: {reference}` leads nowhere; only places in this schema can be named (#/$defs/...)"
            )
        if isinstance(pattern, str):
            _search(pattern)
        if isinstance(inner.get("patternProperties"), dict):
            raise ValueError("`patternProperties` can't be checked in linear time; name the `properties`")


def _inside(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from _inside(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _inside(inner)


def _there(schema: Any, reference: str) -> bool:
    """Whether a JSON pointer of this very document leads somewhere."""
    start, _, pointer = reference.partition("#")
    place = schema
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        place = place.get(name) if isinstance(place, dict) else None
    return not start and (not pointer or pointer.startswith("/")) and place is not None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        raise ValueError(f"can't read the schema {path}: {fault}") from fault
