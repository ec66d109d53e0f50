"""Before an answer is asked for: what may still become of it, and the body that asks for it.

Whether it may be cut back, whether its tokens are followed, whether rules are heard at its end, whether it is read
once more: all of it is known by where the exchange passes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gateway import metered
from gateway.closing import Closing
from gateway.flow import Errand
from gateway.jury import Jury
from gateway.metrics import Metrics
from gateway.refine.file import PLAIN
from gateway.refine.matter import Matter
from gateway.refine.refiner import Refiner
from gateway.refine.review import Review
from gateway.resume import Resumer
from gateway.rewind import Budget
from gateway.rules import Place
from gateway.types import Side
from gateway.upstream import Upstream


class Preparing:
    """Fits errands out, with what the whole process shares."""

    def __init__(self, upstream: Upstream, metrics: Metrics, refiner: Refiner, jury: Jury) -> None:
        self._upstream, self._metrics = upstream, metrics
        self._refiner, self._jury = refiner, jury
        self._refused: dict[str, frozenset[str]] = {}  # what backends are known not to take of a continuation

    def prepared(
        self, errand: Errand, judged: dict[str, Any], sent: Mapping[str, str]
    ) -> tuple[Errand, dict[str, Any]]:
        """The errand with what may still become of its answer, and the body to send. An answer that may be cut back is
        always streamed to here, so that it can be cut while it is made."""
        exchange, who, house = errand.exchange, errand.exchange.principal, errand.house
        place = Place(Side.OUTPUT, exchange.surface, exchange.model, who.tenant, who.tier, "assistant")
        rules = [*house.judge.rewinding(place), *house.judge.rewinding(place._replace(role="tool_call"))]
        if rules:
            judged, exchange = {**judged, "stream": True}, exchange._replace(stream=True)
        body = errand.surface.upstream_body(exchange, judged)
        metering, body = metered.asked(errand.surface, house.judge.metering(place), body, house.judge.on_broken)
        errand = errand._replace(exchange=exchange, metering=metering)
        errand = errand._replace(review=self._closing(errand, self._review(errand, body), place))
        if rules:
            way = (self._upstream, self._metrics, self._refused)
            resumer = Resumer(*way, errand.surface, exchange, body, sent, house.rules, house.terms)
            errand = errand._replace(budget=Budget(rules), resumer=resumer)
        return errand, body

    def _closing(self, errand: Errand, review: Review | None, place: Place) -> Review | Closing | None:
        """The review, and before it the rules for the answer that take their time."""
        rules = errand.house.judge.slow(place) if errand.house.judge.takes_time(Side.OUTPUT) else ()
        if not rules:
            return review
        heard = (self._jury, rules, errand.surface, errand.exchange, errand.trip.draft)
        return Closing(*heard, review, errand.house.file.limits.keep_alive_seconds)

    def _review(self, errand: Errand, body: Mapping[str, Any]) -> Review | None:
        """The review of the answer to come; None if nothing could come of it."""
        file, exchange = errand.house.refine, errand.exchange
        way = file.way(exchange) if file is not None else PLAIN
        if file is None or not (way.refine or way.delivery == "hold"):
            return None
        matter = Matter(exchange, errand.surface, body, errand.lanes("assistant"), file, way)
        return Review(self._refiner, matter, errand.trip.draft)
