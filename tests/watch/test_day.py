"""A real Prometheus watches a real gateway through a bad day: alerts fire and end, dashboards have much to show."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from tests.plugin import engine, in_front
from tests.redis_server import RedisServer, redis_server
from tests.rig import Running
from tests.watch import plans
from tests.watch.day import REFINE, RULES, Day, Endpoint
from tests.watch.station import Station, faster, station

MIXED = {
    *("RetraceGuardBroken", "RetraceUpstreamErrors", "RetraceClientsLeave", "RetraceRewindsSpent"),
    *("RetraceDonorsDeclined", "RetracePoolFull", "RetracePluginFaults", "RetraceAnswersDegraded"),
    *("RetraceBacklogLoses", "RetraceReviewQueueLoses"),
}
GONE = {"RetraceEngineDown", "RetraceUpstreamDown"}
BROKEN = {"RetraceReloadFailed", "RetraceStoreDown", "RetraceRefineDown"}


class Town(NamedTuple):
    """All that runs."""

    gateway: Running
    store: RedisServer
    endpoint: Endpoint
    day: Day
    watch: Station


@asynccontextmanager
async def town(folder: Path) -> AsyncIterator[Town]:
    endpoint = Endpoint()
    (folder / "refine.yaml").write_text(yaml.safe_dump(REFINE), encoding="utf-8")
    with redis_server() as store:
        retrace = {"capture": "all", "store": {"type": "redis", "url": store.url, "timeout_ms": 200}}
        async with (
            engine(endpoint.speak) as (url, _, plugin),
            in_front(folder, [url], RULES, retrace=retrace, refine="refine.yaml", backend={"retries": 0}) as running,
            station(folder / "prometheus", gateway=running.url, engine=url) as watch,
        ):
            day = Day(running, plugin)
            asking = asyncio.create_task(day.run())
            try:
                yield Town(running, store, endpoint, day, watch)
            finally:
                day.stop()
                await asking


def test_time_goes_faster_and_nothing_else_changes() -> None:
    assert faster("5m") == "5000ms"
    assert faster("[30m]") == "[30000ms]"
    assert faster("offset 1h") == "offset 60000ms"


@pytest.mark.alone
async def test_a_bad_day_is_seen_shown_and_over(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.CRITICAL, "gateway")  # a bad day has much to tell
    async with town(tmp_path) as at:
        await at.watch.until(lambda firing: firing >= MIXED)
        rules = at.gateway.folder / "rules.yaml"
        good = rules.read_text(encoding="utf-8")
        rules.write_text("rules: [{id: 7}]", encoding="utf-8")
        at.store.kill()
        at.endpoint.readable = False
        await at.watch.until(lambda firing: firing >= MIXED - {"RetraceDonorsDeclined"} | BROKEN)
        await at.watch.shows([query for query in plans.queries() if not plans.of_itself(query)])
        rules.write_text(good, encoding="utf-8")
        at.store.start()
        at.endpoint.readable, at.endpoint.faulty = True, False
        ended = BROKEN | {"RetraceUpstreamErrors"}
        await at.watch.until(lambda firing: not ended & firing)
        at.endpoint.gone = True
        await at.watch.until(lambda firing: firing >= GONE)
