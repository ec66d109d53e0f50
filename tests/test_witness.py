"""Those who see every exchange: what they are told, and when."""

from __future__ import annotations

from pathlib import Path

from gateway.config import House
from gateway.ledger import Trip
from gateway.types import Exchange, Reuse
from gateway.witness import Witness
from tests.plugin import REPORT, engine, in_front
from tests.rig import answers, completion, gateway, regex, until, upstream


class Notes(Witness):
    """Writes down all it is told."""

    def __init__(self) -> None:
        self.trips: list[Trip] = []
        self.reuses: list[Reuse] = []
        self.applied: list[str] = []
        self.stopped = False

    async def apply(self, house: House) -> None:
        self.applied.append(house.revision)

    def wants(self, exchange: Exchange, house: House) -> bool:
        return "words" in exchange.texts[-1].text

    def over(self, trip: Trip) -> None:
        self.trips.append(trip)

    def reuse(self, reuse: Reuse) -> None:
        self.reuses.append(reuse)

    async def stop(self) -> None:
        self.stopped = True


async def test_every_request_is_seen_once_with_what_became_of_it(tmp_path: Path) -> None:
    notes = Notes()
    async with (
        upstream(answers(completion("fine"))) as (url, _),
        gateway(tmp_path, [url], [regex("bomb", side="input")]) as running,
    ):
        running.server._pipeline.witnesses = (notes,)
        await running.chat("hello")
        await running.chat("a bomb")
        await running.http.get(f"{running.url}/v1/nothing")
        await until(lambda: len(notes.trips) == 3)
    assert [trip.status for trip in notes.trips] == [200, 400, 404]
    assert {trip.revision for trip in notes.trips[:2]} == {running.server.steward.house.revision}
    assert notes.trips[0].backend
    assert notes.trips[2].exchange is None
    assert notes.stopped


async def test_the_words_are_kept_only_for_who_wants_them(tmp_path: Path) -> None:
    notes = Notes()
    async with upstream(answers(completion("fine"))) as (url, _), gateway(tmp_path, [url], []) as running:
        running.server._pipeline.witnesses = (notes,)
        await running.chat("hello")
        await running.chat("these words")
        await until(lambda: len(notes.trips) == 2)
    without, wanted = notes.trips
    assert (without.recorded, without.asked) == (False, None)
    assert wanted.recorded
    assert wanted.asked is not None
    assert wanted.asked["messages"][-1]["content"] == "these words"


async def test_what_an_engine_says_of_a_capture_is_seen(tmp_path: Path) -> None:
    notes = Notes()
    async with (
        engine(answers(completion("fine"))) as (url, _, plugin),
        in_front(tmp_path, [url], [], retrace={"capture": "all"}) as running,
    ):
        running.server._pipeline.witnesses = (notes,)
        plugin.report = {**REPORT, "captured_tokens": 64}
        await running.chat("hello")
        await until(lambda: bool(notes.reuses))
    (told,) = notes.reuses
    assert told.exchange == notes.trips[0].exchange.id  # type: ignore[union-attr]
    assert (told.verdict, told.reason, told.captured, told.donor) == ("kept", "accepted", 64, "")
