"""A real Prometheus of a test's own, with the rules that are shipped, in which time goes faster."""

from __future__ import annotations

import asyncio
import json
import math
import re
import shutil
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import yaml

from deploy.setup import ports
from deploy.setup.prometheus import ensure
from tests.watch import plans

FASTER = 60  # a minute of the rules is one second: on a busy machine, too, each window holds many rounds of a day
EVERY = "500ms"  # between two scrapes, and two looks at the rules; a scrape that takes longer is given up
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_PATIENCE = 600.0  # seconds, on a machine that is slow and busy; what is well takes a tenth of it


class Station:
    """What one Prometheus says."""

    def __init__(self, url: str, http: aiohttp.ClientSession) -> None:
        self.url, self._http = url, http

    async def ask(self, query: str) -> list[float]:
        """The values of a query right now, those that are no number left out."""
        async with self._http.get(f"{self.url}/api/v1/query", params={"query": query}) as response:
            told = await response.json()
        assert told["status"] == "success", (query, told)
        values = [float(one["value"][1]) for one in told["data"]["result"]]
        return [value for value in values if not math.isnan(value)]

    async def firing(self) -> set[str]:
        """The alerts that fire."""
        async with self._http.get(f"{self.url}/api/v1/alerts") as response:
            told = await response.json()
        return {one["labels"]["alertname"] for one in told["data"]["alerts"] if one["state"] == "firing"}

    async def shows(self, queries: Sequence[plans.Query]) -> None:
        """Every panel, and every figure that is recorded, has something to show; a scrape that came late is made up
        for."""
        left = [query for query in queries if query.who not in plans.alerts()]
        assert left
        for _ in range(300):
            left = [query for query in left if not await self.ask(plans.settled(query.text, "5s"))]
            if not left:
                return
            await asyncio.sleep(0.2)
        raise AssertionError(f"nothing is shown by {[query.who for query in left]}")

    async def until(self, content: Callable[[set[str]], bool]) -> set[str]:
        """The alerts that fire, once they are as they should be."""
        seen: set[str] = set()
        try:
            async with asyncio.timeout(_PATIENCE):
                while not content(seen := await self.firing()):  # noqa: ASYNC110 - it tells nobody
                    await asyncio.sleep(0.1)
        except TimeoutError:
            raise AssertionError(f"these fire: {sorted(seen)}") from None
        return seen


def faster(text: str) -> str:
    """A duration, or all within a query, in the test's time."""
    return re.sub(r"(?<![\w.])(\d+)([smhd])\b", lambda m: f"{int(m[1]) * _SECONDS[m[2]] * 1000 // FASTER}ms", text)


def _furnish(folder: Path, targets: Mapping[str, str]) -> None:
    """deploy/prometheus as it is, but for the time and for who is scraped."""
    shutil.copytree(plans.PROMETHEUS, folder, dirs_exist_ok=True)
    for path in (folder / "rules").glob("*.yml"):
        rules = yaml.safe_load(path.read_text(encoding="utf-8"))
        for rule in (rule for group in rules["groups"] for rule in group["rules"]):
            window = re.compile(r"\[[^\]]*\]|\boffset \S+")
            rule["expr"] = window.sub(lambda match: faster(match[0]), rule["expr"])
            rule |= {key: faster(rule[key]) for key in ("for", "keep_firing_for") if key in rule}
        path.write_text(yaml.safe_dump(rules, allow_unicode=True), encoding="utf-8")
    for name, url in targets.items():
        where = [{"targets": [url.removeprefix("http://")]}]
        (folder / "targets" / f"{name}.json").write_text(json.dumps(where))
    config = (folder / "prometheus.yml").read_text(encoding="utf-8")
    (folder / "prometheus.yml").write_text(config.replace("15s", EVERY), encoding="utf-8")


@asynccontextmanager
async def station(folder: Path, **targets: str) -> AsyncIterator[Station]:
    """A Prometheus that scrapes these targets (gateway, engine), ready to be asked; it is gone afterwards."""
    _furnish(folder, targets)
    port = ports.free()
    words: list[Any] = [
        *(ensure().prometheus, f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"),
        *(f"--web.listen-address=127.0.0.1:{port}", "--storage.tsdb.retention.time=1h", "--log.level=warn"),
    ]
    with (folder / "log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(*words, stdout=log, stderr=log)
    async with aiohttp.ClientSession() as http:
        try:
            await _ready(f"http://127.0.0.1:{port}", http, process, folder / "log")
            yield Station(f"http://127.0.0.1:{port}", http)
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()


async def _ready(url: str, http: aiohttp.ClientSession, process: asyncio.subprocess.Process, log: Path) -> None:
    async with asyncio.timeout(_PATIENCE):
        while process.returncode is None:
            try:
                async with http.get(f"{url}/-/ready") as response:
                    if response.status == 200:
                        return
            except aiohttp.ClientConnectionError:
                await asyncio.sleep(0.05)
                continue
            await asyncio.sleep(0.05)
    raise AssertionError(f"prometheus ended with {process.returncode}; see {log}")
