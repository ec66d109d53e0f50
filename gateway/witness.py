"""Who sees every exchange at its end, and what engines say of captures: the audit log, traces, the watch on itself.

A witness changes nothing of an exchange, and whatever goes wrong in one is its own to count: it never raises.
"""

from __future__ import annotations

from collections.abc import Mapping

from gateway.config import House
from gateway.ledger import Trip
from gateway.types import Exchange, Reuse


class Witness:
    """One who sees; what he does not care for he leaves as it is here."""

    async def apply(self, house: House) -> None:
        """This configuration is in force from now on."""

    def enters(self, trip: Trip, sent: Mapping[str, str]) -> None:
        """A request has come whose client may ask; these are its headers."""

    def wants(self, exchange: Exchange, house: House) -> bool:
        """Whether it wants the words of this exchange, too (`Trip.asked` and `Trip.said`)."""
        return False

    def over(self, trip: Trip) -> None:
        """A request is over, however it ended. `trip.exchange` is none if it was not even understood."""

    def reuse(self, reuse: Reuse) -> None:
        """An engine has said what became of a capture, and of the donor that was offered with it."""

    async def stop(self) -> None:
        """The gateway ends; what waits is to be put away."""
