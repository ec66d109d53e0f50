"""A real Prometheus watches a real gateway that watches itself: its figures, its own hand, its log and its traces."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.plugin import in_front
from tests.rig import Running, regex, upstream
from tests.tracing.receiver import Receiver, receiver
from tests.verifier import PASS, slow, verifier
from tests.watch import plans
from tests.watch.station import Station, station
from tests.watch.twice import LONG, Twin

CONTROL: dict[str, Any] = {"mode": "observe", "consistency": {"minutes": 0}, "hits": {"most_bits": 0}}
WATCH: dict[str, Any] = {
    "shadow": {"rate": 1, "tokens_per_hour": 10_000_000, "idle_below": 1},
    "every_seconds": 1,
    "control": CONTROL,
}
PAUSE = 0.2  # seconds between two exchanges, in which they are repeated
MEASURED = {"RetraceCsLow", "RetraceBackendDown"}
BROKEN = {"RetraceFallback", "RetracePolicyUnconfirmed", "RetraceTracesLost", "RetraceAuditFails", "RetraceAuditLoses"}


class Hall(NamedTuple):
    """All that runs."""

    gateway: Running
    collector: Receiver
    watch: Station


@asynccontextmanager
async def hall(folder: Path) -> AsyncIterator[Hall]:
    """An engine that answers otherwise once it reuses something, and a gateway that is asked the same all the time."""
    engine = Twin(other="Nobody knows, and who asks is asked to leave.")
    (folder / "watch.yaml").write_text(yaml.safe_dump(WATCH), encoding="utf-8")
    async with (
        upstream(engine.script) as (url, up),
        verifier(lambda _: PASS) as (service, _),
        receiver() as collector,
    ):
        up.plugin = engine.speak
        more = {
            "retrace": {"capture": "all"},
            "watch": "watch.yaml",
            "audit": {"folder": "audit", "rotate_mb": 0.01, "queue": 8},
            "tracing": {"endpoint": collector.url, "timeout_seconds": 0.5},
        }
        rules = [regex("private", action="mask", id="private"), slow(service)]
        async with (
            in_front(folder, [url], rules, **more) as running,
            station(folder / "prometheus", gateway=running.url, engine=url) as watch,
        ):
            asking = asyncio.create_task(_ask(running))
            try:
                yield Hall(running, collector, watch)
            finally:
                asking.cancel()
                await asyncio.gather(asking, return_exceptions=True)


async def _ask(running: Running) -> None:
    while True:
        await (await running.chat(LONG)).read()
        await asyncio.sleep(PAUSE)


def _add_a_backend_that_is_down(gateway: Running) -> None:
    path = gateway.folder / "gateway.yaml"
    file = yaml.safe_load(path.read_text(encoding="utf-8"))
    file["backends"].append({"name": "down", "type": "vllm", "urls": ["http://127.0.0.1:9"], "models": ["other"]})
    path.write_text(yaml.safe_dump(file), encoding="utf-8")


def _break(at: Hall) -> None:
    """Rules change their meaning, nobody takes traces, the log's folder is gone; and the controller may act."""
    folder = at.gateway.folder
    rules = yaml.safe_load((folder / "rules.yaml").read_text(encoding="utf-8"))
    rules["rules"][0]["check"]["pattern"] = "confidential"
    (folder / "rules.yaml").write_text(yaml.safe_dump(rules), encoding="utf-8")
    (folder / "watch.yaml").write_text(yaml.safe_dump({**WATCH, "control": {**CONTROL, "mode": "act"}}))
    at.collector.status = 500
    (folder / "audit").rename(folder / "aside")
    (folder / "audit").write_text("no folder")


@pytest.mark.alone
async def test_what_the_gateway_measures_and_does_is_seen_and_shown(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "gateway")
    async with hall(tmp_path) as at:
        _add_a_backend_that_is_down(at.gateway)
        await at.watch.until(lambda firing: firing >= MEASURED)
        await at.watch.shows([query for query in plans.queries() if plans.of_itself(query)])
        _break(at)
        await at.watch.until(lambda firing: firing >= BROKEN)
