"""Exchanges worth repeating: what the ledger says of one at its end, and its engine of its donor, put together.

The two come in either order, and for most exchanges the second never comes. What waits is bounded, and so are the words
in it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

from gateway.backends import Donor
from gateway.ledger import Trip
from gateway.terms import Terms
from gateway.types import Exchange, Reuse
from gateway.watch.pairs import Arm
from gateway.wording import used_on

MOST = 64  # exchanges, and as many reports, that wait for the other half


class Case(NamedTuple):
    """One exchange, as it was sent, with the donor that served it.

    `mode` is what the injection came to. `own`: tokens of its prompt that the engine had in its cache by itself, beside
    the donor's; None if it does not say.
    """

    at: float  # when it came, in seconds since 1970
    exchange: Exchange
    backend: str
    body: Mapping[str, Any]
    donor: Donor
    reason: str
    mode: str
    arm: Arm
    prompt: int
    own: int | None


class Gathering:
    """Puts the halves together. One process's, of exchanges that were drawn by lot."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._trips: OrderedDict[str, tuple[Trip, Terms]] = OrderedDict()
        self._reuses: OrderedDict[str, Reuse] = OrderedDict()

    def over(self, trip: Trip, terms: Terms, prompt_chars: int) -> Case | None:
        """An exchange is over that was drawn; `terms` were in force for it."""
        exchange = trip.exchange
        if exchange is None or not worth(trip, exchange, prompt_chars):
            return None
        reuse = self._reuses.pop(exchange.id, None)
        if reuse is not None:
            return case(trip, reuse, terms)
        self._trips[exchange.id] = trip, terms
        if len(self._trips) > self._most:
            self._trips.popitem(last=False)
        return None

    def told(self, reuse: Reuse) -> Case | None:
        """An engine has injected tokens into an exchange that was drawn."""
        found = self._trips.pop(reuse.exchange, None)
        if found is not None:
            trip, terms = found
            return case(trip, reuse, terms)
        self._reuses[reuse.exchange] = reuse
        if len(self._reuses) > self._most:
            self._reuses.popitem(last=False)
        return None


def worth(trip: Trip, exchange: Exchange, prompt_chars: int) -> bool:
    """Whether a repeat could tell anything: one answer that came to its end at one go, from a donor, not too long.

    What was cut back is left out: its donor may have served the call that went on, which had another prompt.
    """
    if trip.asked is None or trip.status != 200 or exchange.choices != 1 or trip.draft.attempts:
        return False
    if not any(one.get("donor") and one.get("mode") != "none" for one in trip.captures):
        return False
    return sum(len(text.text) for text in exchange.texts) <= prompt_chars


def case(trip: Trip, reuse: Reuse, terms: Terms) -> Case | None:
    """Both halves as one; None if nothing was injected after all."""
    exchange, usage = trip.exchange, trip.draft.usage
    if exchange is None or trip.asked is None or not reuse.injected:
        return None
    own = usage.cached if usage else None
    if own is not None and reuse.mode == "prefix":  # what was loaded counts as cached, too
        own = max(0, own - reuse.injected)
    donor = Donor(reuse.donor, reuse.replica, reuse.asked, used_on(terms.policy(reuse.donor_reason)))
    arm = terms.arm(reuse.donor_reason, exchange)
    prompt = usage.prompt if usage else 0
    whose = (trip.backend, trip.asked, donor, reuse.donor_reason, reuse.mode, arm)
    return Case(trip.at, exchange, *whose, prompt, own)
