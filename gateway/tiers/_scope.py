"""Which answers something is meant for: by who asks, where, whom, and about what."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cached_property
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema

from gateway.plug import Strict
from gateway.tiers import Case

_FIELDS = ("tenant", "tier", "domain", "surface", "model")
_ALL = ("*",)


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


Globs = Annotated[
    tuple[Annotated[str, Field(min_length=1)], ...],
    BeforeValidator(_listed),
    Field(min_length=1),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}),
]


class Scope(Strict):
    """Every field that is given must match. Names may hold `*` and `?`; lists mean any of."""

    tenant: Globs = _ALL
    tier: Globs = Field(default=_ALL, description="Tiers of customers, as in tiers.yaml.")
    domain: Globs = Field(
        default=_ALL, description="As `domains` in refine.yaml names them; no name fits where none is known."
    )
    surface: Globs = _ALL
    model: Globs = _ALL

    @cached_property
    def _asked(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        return tuple((name, globs) for name in _FIELDS if (globs := getattr(self, name)) != _ALL)

    def covers(self, case: Case) -> bool:
        """Whether this is meant for the case."""
        return all(any(fnmatchcase(getattr(case, name), glob) for glob in globs) for name, globs in self._asked)
