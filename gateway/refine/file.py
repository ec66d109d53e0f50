"""rules/refine.yaml: which answers are read once more, by whom, within which limits, and what a reader sees of it."""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from gateway.plug import OneOf, Strict
from gateway.refine.backlog import BacklogSpec
from gateway.refine.caution import TAGS, Placement, Tags
from gateway.refine.docket import DocketSpec
from gateway.refine.domains import Domains
from gateway.refine.guards import Guards
from gateway.refine.memo import CacheSpec
from gateway.refine.wording import Quotes
from gateway.rules import Place, When
from gateway.tiers import TierSpec
from gateway.types import Exchange, Side

Delivery = Literal["live", "hold"]


class Route(Strict):
    """How some exchanges are served; the first route that matches counts."""

    when: When = When()
    delivery: Delivery | None = Field(default=None, description="If absent: as for all.")
    refine: bool = Field(default=True, description="false: these answers are never read again.")


class Caution(Strict):
    """What an answer looks like that should have been read once more and could not be."""

    placement: Placement = Field(
        default="inline",
        description="inline: a tag behind each figure, date, regulation (of an answer that has left already: a note "
        "behind it). note: one note at the end. header: the text stays as it is, only headers and logs say it.",
    )
    tags: Tags = TAGS


class RefineFile(Strict):
    """The file. Without it, and for routes that say `refine: false`, no answer is read twice."""

    delivery: Delivery = Field(
        default="live",
        description="live: text leaves as it is judged, a correction follows as an erratum. hold: nothing leaves until "
        "all is judged and refined, then the corrected text.",
    )
    routes: tuple[Route, ...] = ()
    tiers: tuple[Annotated[TierSpec, OneOf("tiers")], ...] = Field(
        default=(), description="Who says whether an answer needs it, in this order; the first that decides counts."
    )
    domains: Domains = Field(default=Domains(), description="How the domain of a conversation is known.")
    backend: str | None = Field(default=None, description="The backend that reads; if absent, the one that answered.")
    model: str | None = Field(default=None, description="The model that reads; if absent, the one that answered.")
    form: Literal["auto", "json", "text"] = Field(
        default="auto", description="How corrections are asked for; auto: JSON by a schema wherever that is taken."
    )
    quotes: Quotes = Field(
        default="facts",
        description="What a reply in JSON may quote as wrong. facts: figures, dates, sums and laws, or clauses of an "
        "answer without any; such a reply is short. clauses: any clause, so that names and logic are put right too.",
    )
    guards: Guards = Guards()
    marks: Literal["keep", "clean"] = Field(
        default="keep", description="Whether a corrected text shows where it was corrected, and why (`hold`)."
    )
    degraded: Caution = Caution()
    queue: Annotated[DocketSpec, Field(discriminator="type")] | None = Field(
        default=None, description="Where answers wait that a person should look at. Off if absent."
    )
    cache: CacheSpec | None = Field(default=CacheSpec(), description="What was read once is not read again. null: off.")
    backlog: BacklogSpec | None = Field(
        default=None, description="Answers that nobody waits for any more are read when little else is going on."
    )
    bill: bool = Field(default=False, description="Whether the client's usage holds the tokens of the second reading.")
    keep_alive_seconds: float = Field(
        default=5.0, gt=0, description="While a stream is held, an SSE comment goes out that often."
    )

    def way(self, exchange: Exchange) -> Way:
        """How this exchange is served."""
        who = exchange.principal
        place = Place(Side.OUTPUT, exchange.surface, exchange.model, who.tenant, who.tier, "assistant")
        route = next((route for route in self.routes if route.when.matches(place)), Route())
        return Way(route.delivery or self.delivery, route.refine, self.guards.quota(place))


class Way(NamedTuple):
    """What the file says of one exchange."""

    delivery: Delivery = "live"
    refine: bool = False
    quota: int = 0


PLAIN = Way()
