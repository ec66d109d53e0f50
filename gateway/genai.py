"""The gateway's figures by the names of OpenTelemetry's conventions for generative AI, for dashboards made for those.

https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-metrics/. To its clients the gateway is the model server:
times are those that a client sees. A model is named if the configuration names it in full (`backends[].models`), else
it is `other`: what clients write is no label.
"""

from __future__ import annotations

from gateway.config import House
from gateway.ledger import Trip
from gateway.metrics import Metrics
from gateway.witness import Witness

OPERATIONS = {"chat": "chat", "messages": "chat", "responses": "chat", "completions": "text_completion"}  # by surface
OTHER = "other"


class GenAI(Witness):
    """Counts every exchange that asked a model."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._providers: dict[str, str] = {}
        self._known: frozenset[str] = frozenset()

    async def apply(self, house: House) -> None:
        self._providers = {backend.name: backend.type for backend in house.file.backends}
        self._known = house.file.models

    def over(self, trip: Trip) -> None:
        exchange = trip.exchange
        provider = self._providers.get(trip.backend)
        if exchange is None or provider is None:  # nobody was asked
            return
        model = exchange.model if exchange.model in self._known else OTHER
        error = str(trip.status) if trip.status >= 400 else ""
        whom = (OPERATIONS[exchange.surface], provider, model)
        self._metrics.observe_generation(whom, error, trip.seconds, trip.first, trip.draft.usage)
