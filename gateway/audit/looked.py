"""What need not be looked for again before it is written: what the rules have looked for themselves."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from gateway.checks.pii import Kind
from gateway.checks.pii import Plug as Pii
from gateway.rules import Place, Rule
from gateway.types import Exchange, Side


class Looked:
    """Knows of each exchange whether the rules of one configuration look for all personal data in it."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._looking = [(rule.side, rule.when, rule.check.kinds) for rule in rules if isinstance(rule.check, Pii)]
        self._known = lru_cache(maxsize=4096)(self._all)

    def clean(self, exchange: Exchange, roles: frozenset[str]) -> bool:
        """Whether an exchange in which no rule found anything has nothing that is to be redacted; `roles` speak in
        its request."""
        who = exchange.principal
        return self._known(exchange.surface, exchange.model, who.tenant, who.tier, roles)

    def _all(self, surface: str, model: str, tenant: str, tier: str, roles: frozenset[str]) -> bool:
        spoken = [(Side.INPUT, role) for role in roles]
        return all(
            self._look(Place(side, surface, model, tenant, tier, role))
            for side, role in [*spoken, (Side.OUTPUT, "assistant")]
        )

    def _look(self, place: Place) -> bool:
        kinds: set[Kind] = set()
        for side, when, mine in self._looking:
            if side is place.side and when.matches(place):
                kinds |= mine
        return kinds == set(Kind)
