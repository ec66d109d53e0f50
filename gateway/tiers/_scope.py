"""Which answers something is meant for: by who asks, where, whom, and about what."""

from __future__ import annotations

from functools import cached_property

from pydantic import Field

from gateway.globs import Globs, fits
from gateway.plug import Strict
from gateway.tiers import Case

_FIELDS = ("tenant", "tier", "domain", "surface", "model")
_ALL = ("*",)


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
        return all(fits(getattr(case, name), globs) for name, globs in self._asked)
