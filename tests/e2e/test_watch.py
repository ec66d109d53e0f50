"""What reuse gives, measured on the real engine: repeats with a donor and without, of which nothing is left behind."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import yaml

from deploy.setup.engine import Engine
from gateway.backends import Donor
from gateway.types import Exchange, Principal, Reuse
from gateway.watch.cases import Case
from gateway.watch.file import Shadowing
from gateway.watch.pairs import Pair
from gateway.watch.shadow import Shadow
from gateway.witness import Witness
from tests.e2e.test_retrace import MANUAL, asked, figure, found
from tests.rig import Running, gateway

pytestmark = pytest.mark.engine

COUNTER = "You serve at the counter of a parcel office, you are friendly, and you keep to the rules of the house."
WORDS = Shadowing(rate=1, tokens_per_hour=1_000_000, answer_tokens=16, seconds=300)


class Ear(Witness):
    """Hears what engines say of donors."""

    def __init__(self) -> None:
        self.heard: list[Reuse] = []

    def reuse(self, reuse: Reuse) -> None:
        self.heard.append(reuse)


async def held(running: Running, url: str) -> set[str]:
    """The captures that hold anything, the newest of them."""
    async with running.http.get(f"{url}/retrace/v1/captures?limit=100&state=kept") as response:
        return {one["id"] for one in (await response.json())["captures"] if one["tokens"]}


async def repeated(running: Running, url: str, donor: Reuse) -> Pair:
    """A request that begins as the donor did, repeated."""
    way = running.server._pipeline.way
    shadow = Shadow(way.repeat, way.retrace.salt, lambda: True, lambda _side, _tokens: None)
    messages = [
        {"role": "system", "content": MANUAL},
        {"role": "user", "content": "At which counter is class 9 weighed?"},
    ]
    exchange = Exchange("rt-made", "chat", "qwen", Principal(), ())
    body = {"model": "qwen", "messages": messages}
    served = Donor(donor.capture, url, "prefix", {"min_tokens": 64})
    return await shadow.pair(
        Case(time.time(), exchange, "up", body, served, "accepted", "prefix", "now", 1000, 0), WORDS
    )


async def test_reuse_is_measured_by_repeats_that_leave_nothing(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "watch.yaml").write_text(
        yaml.safe_dump({"shadow": WORDS.model_dump(mode="json"), "every_seconds": 3600})
    )
    keeps = {"capture": "all", "accepted": {"mode": "splice", "sensitive": "allow"}}
    async with gateway(tmp_path, [engine.url], [], retrace=keeps, watch="watch.yaml") as running:
        ear = Ear()
        running.server._pipeline.witnesses = (*running.server._pipeline.witnesses, ear)
        await found(running)
        before = await held(running, engine.url)
        assert await asked(running, MANUAL, "When does the van of class 5 leave?") == 200
        assert await figure(running, "retrace_captures_total", 1) == 1

        prefix = await repeated(running, engine.url, ear.heard[0])
        assert (prefix.mode, prefix.fair) == ("prefix", True)
        assert prefix.first[0] < prefix.first[1]
        assert prefix.kl is not None
        assert prefix.kl < 0.05

        assert await asked(running, f"{COUNTER}\n\n{MANUAL}", "When does the van of class 5 leave?") == 200
        assert await figure(running, "retrace_shadow_total", 1, 300) == 1
        (splice,) = running.server.watchman.series.pairs(time.time(), 3600)
        assert (splice.mode, splice.fair, splice.reason) == ("splice", True, "accepted")
        assert splice.first[0] < splice.first[1]
        assert splice.kl is not None
        assert splice.kl < 1  # of another document it would be more

        assert await held(running, engine.url) - before == {ear.heard[0].capture}
        assert len(ear.heard) == 2  # the repeats' own captures are nobody's
