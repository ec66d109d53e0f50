"""What need not be looked for again before it is written: what the rules have looked for themselves.

It goes to the clerk with the configuration.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from gateway.checks.pii import Kind
from gateway.checks.pii import Plug as Pii
from gateway.rules import Place, Rule, When
from gateway.types import Side


class Look(NamedTuple):
    """Where a rule looks for which personal data."""

    side: Side
    when: When
    kinds: frozenset[Kind]


class Looked:
    """Knows of each exchange whether the rules of one configuration look for all personal data in it."""

    def __init__(self, looks: Iterable[Look]) -> None:
        self._looks = tuple(looks)
        self._known = lru_cache(maxsize=4096)(self._all)

    @classmethod
    def by(cls, rules: Iterable[Rule]) -> Looked:
        """By the rules of a configuration."""
        return cls(Look(rule.side, rule.when, rule.check.kinds) for rule in rules if isinstance(rule.check, Pii))

    def __reduce__(self) -> tuple[type[Looked], tuple[tuple[Look, ...]]]:
        return Looked, (self._looks,)

    def __call__(self, surface: str, model: str, tenant: str, tier: str, roles: frozenset[str]) -> bool:
        """Whether an exchange in which no rule found anything has nothing that is to be redacted; `roles` speak in
        its request."""
        return self._known(surface, model, tenant, tier, roles)

    def _all(self, surface: str, model: str, tenant: str, tier: str, roles: frozenset[str]) -> bool:
        spoken = [(Side.INPUT, role) for role in roles]
        return all(
            self._look(Place(side, surface, model, tenant, tier, role))
            for side, role in [*spoken, (Side.OUTPUT, "assistant")]
        )

    def _look(self, place: Place) -> bool:
        kinds: set[Kind] = set()
        for look in self._looks:
            if look.side is place.side and look.when.matches(place):
                kinds |= look.kinds
        return kinds == set(Kind)
