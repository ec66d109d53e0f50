"""`type: schema`: the answer must be JSON, and fit a JSON Schema."""

from __future__ import annotations

import json
import re
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

import jsonschema
from pydantic import Field, ValidationInfo, model_validator

from gateway.checks import Check
from gateway.types import NEVER, View

_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n\s*```\s*\Z", re.DOTALL)


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
        return self

    @cached_property
    def _validator(self) -> jsonschema.Draft202012Validator:
        return jsonschema.Draft202012Validator(self.json_schema or {})

    def look(self, view: View) -> tuple[list[tuple[int, int]], int]:
        if not view.final:
            return [], view.begin
        fenced = _FENCE.match(view.text) if self.allow_fence else None
        fits = self._fits(fenced[1] if fenced else view.text)
        return [] if fits else [(0, len(view.text))], len(view.text)

    def wake(self, position: int) -> int:
        return NEVER

    def _fits(self, text: str) -> bool:
        try:
            return bool(self._validator.is_valid(json.loads(text, parse_constant=_no_constant)))
        except (ValueError, RecursionError):
            return False


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as fault:
        raise ValueError(f"can't read the schema {path}: {fault}") from fault
