"""A vLLM with our plugin, as far as a gateway sees it: what it was asked beside requests, and the verdicts it heard."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from gateway.kv import ask
from tests.rig import RawUpstream, Running, Script, Seen, gateway, http, until, upstream

REPORT = {"captured_tokens": 512, "injected_tokens": 0, "recomputed_tokens": 0, "mode": "none", "declined": None}


class Heard(NamedTuple):
    """A verdict that reached the plugin."""

    method: str
    capture: str
    body: Any


@dataclass
class Plugin:
    """The plugin's half of the contract."""

    modes: list[str] = field(default_factory=lambda: ["prefix", "splice"])
    secret: str = ""
    ready: bool = True  # it knows its engine
    status: int = 200  # what verdicts are answered with
    report: dict[str, Any] | None = field(default_factory=lambda: dict(REPORT))
    asked: int = 0
    heard: list[Heard] = field(default_factory=list)

    async def speak(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        """Answer whatever comes under /retrace/v1."""
        if self.secret and seen.headers.get("x-retrace-secret") != self.secret:
            writer.write(http(b'{"error": "secret"}', 401))
        elif seen.path == "/retrace/v1/health":
            self.asked += 1
            engine = {"fingerprint": "f", "modes": self.modes} if self.ready else None
            writer.write(http(orjson.dumps({"plugin": "0.1.0", "engine": engine, "pool": {}})))
        else:
            body = orjson.loads(seen.body) if seen.body else None
            self.heard.append(Heard(seen.method, seen.path.rpartition("/")[2], body))
            writer.write(http(orjson.dumps({"report": self.report, "tokens": 512}), self.status))

    def of(self, capture: str) -> list[str]:
        """The methods of the verdicts on one capture."""
        return [heard.method for heard in self.heard if heard.capture == capture]


@asynccontextmanager
async def engine(script: Script, **fields: Any) -> AsyncIterator[tuple[str, RawUpstream, Plugin]]:
    """A running patched engine: its address, what it saw, and its plugin."""
    plugin = Plugin(**fields)
    async with upstream(script) as (url, up):
        up.plugin = plugin.speak
        yield url, up, plugin


@asynccontextmanager
async def in_front(
    folder: Path, urls: list[str], rules: list[dict[str, Any]] | None = None, **fields: Any
) -> AsyncIterator[Running]:
    """A gateway that has found the plugin of every replica."""
    async with gateway(folder, urls, rules, **fields) as running:
        await until(lambda: all(replica.engine for replica in replicas(running)))
        await until(lambda: running.server._fleet.patched()["up"])
        yield running


def replicas(running: Running) -> list[Any]:
    backend: Any = running.server._fleet._living[0][1]
    return list(backend._replicas.all)


def asked(seen: Seen) -> dict[str, Any]:
    """What a request asked of the plugin, which must understand it."""
    told: dict[str, Any] = seen.json["kv_transfer_params"]["retrace"]
    assert ask.parse(seen.json["kv_transfer_params"]) is not None
    return told


async def settled(up: RawUpstream, plugin: Plugin, count: int = 1) -> list[tuple[str, Any]]:
    """The verdicts on all captures that were asked for, in the order of the requests; each heard exactly one."""
    await until(lambda: len(plugin.heard) >= count)
    await asyncio.sleep(0.03)  # one too many would come now
    named = [asked(seen)["capture"] for seen in up.calls if "kv_transfer_params" in seen.json]
    assert sorted(heard.capture for heard in plugin.heard) == sorted(named)
    by = {heard.capture: (heard.method, heard.body) for heard in plugin.heard}
    return [by[capture] for capture in named]
