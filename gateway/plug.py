"""A word in YAML names a file: `type: regex` is gateway/checks/regex.py, class Plug, and its fields are its schema.

A room is a package. A new check, backend or surface is one file in it and nothing else: no registry, no decorator,
no entry in a list. Files that begin with an underscore are the room's own furniture.
"""

from __future__ import annotations

import functools
import importlib
import operator
import pkgutil
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema


class Strict(BaseModel):
    """What is written in YAML: frozen, and a word it does not know is an error, since it is likely a typing error."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


@functools.cache
def plugs(room: str) -> dict[str, type[Any]]:
    """All Plug classes of a room, by the word that names them."""
    package = importlib.import_module(f"gateway.{room}")
    names = sorted(m.name for m in pkgutil.iter_modules(package.__path__) if not m.name.startswith("_"))
    modules = {name: importlib.import_module(f"{package.__name__}.{name}") for name in names}
    return {name: module.Plug for name, module in modules.items() if hasattr(module, "Plug")}


class OneOf:
    """For `Annotated`: this field holds any plug of these rooms, told apart by its `type`."""

    def __init__(self, *rooms: str) -> None:
        self.rooms = rooms

    def __get_pydantic_core_schema__(self, _source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        kinds = [kind for room in self.rooms for kind in plugs(room).values()]
        if len(kinds) == 1:
            return handler.generate_schema(kinds[0])
        union: Any = functools.reduce(operator.or_, kinds)
        return handler.generate_schema(Annotated[union, Field(discriminator="type")])
