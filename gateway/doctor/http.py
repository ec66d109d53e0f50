"""Questions over HTTP to whoever may know something. Each has its time and its size, and none ever raises."""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import NamedTuple, Self

import aiohttp
from yarl import URL

from gateway.doctor import _exposition
from gateway.leaves import parsed
from gateway.symptoms import Alert, Look, Replica, Reply, Trend

PATIENCE = 3.0  # seconds for an answer
LONGEST = 8 << 20  # bytes of one
LOOKS = 3  # at an engine's figures
_SECRET_HEADER = "x-retrace-secret"
_MOST = 100  # alerts or engines of one Prometheus
# The share of its KV cache that each running request of an engine holds, over half an hour.
_HELD = (
    "sum by (instance) (avg_over_time(vllm:kv_cache_usage_perc[30m]{ago}))"
    " / clamp_min(sum by (instance) (avg_over_time(vllm:num_requests_running[30m]{ago})), 1)"
)
AGO = " offset 6h"


class Address(NamedTuple):
    """A replica, and what it takes to ask it. `secret`: for the plugin; None where there can be none."""

    backend: str
    url: str
    health_path: str
    key: str = ""
    secret: str | None = None


class Asker:
    """A session for one visit."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self._patience = patience

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=None), cookie_jar=aiohttp.DummyCookieJar(), trust_env=False
        )
        return self

    async def __aexit__(
        self, _kind: type[BaseException] | None, _fault: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self._session.close()

    async def ask(self, url: str, headers: Mapping[str, str] | None = None) -> Reply:
        """What is answered there."""
        return (await self._got(url, headers or {}))[0]

    async def _got(self, url: str, headers: Mapping[str, str]) -> tuple[Reply, bytes]:
        began, at = time.perf_counter(), time.time()
        body = bytearray()
        try:
            async with (
                asyncio.timeout(self._patience),
                self._session.get(URL(url, encoded=True), headers=headers, allow_redirects=False) as response,
            ):
                while len(body) < LONGEST and (piece := await response.content.readany()):
                    body += piece
        except TimeoutError:
            return Reply(why=f"no answer within {self._patience:g} s", ours=at), b""
        except aiohttp.ClientConnectorError as fault:
            return Reply(why=_word(fault.os_error), ours=at), b""
        except (aiohttp.ClientError, OSError, ValueError) as fault:
            return Reply(why=type(fault).__name__, ours=at), b""
        took = time.perf_counter() - began
        told = parsed(body)
        return Reply(response.status, took, "", told, _date(response.headers.get("date")), at + took / 2), bytes(body)

    async def replica(self, address: Address, seconds: float) -> Replica:
        """Its health, its plugin, and its figures several times within so many seconds."""
        key = {"authorization": f"Bearer {address.key}"} if address.key else {}
        health = await self.ask(address.url + address.health_path, key)
        if address.secret is None or not health.status:
            return Replica(address.backend, address.url, health, None if address.secret is None else health)
        secret = {_SECRET_HEADER: address.secret} if address.secret else {}
        plugin = await self.ask(address.url + "/retrace/v1/health", {**key, **secret})
        return Replica(address.backend, address.url, health, plugin, await self._looks(address.url, key, seconds))

    async def _looks(self, url: str, headers: Mapping[str, str], seconds: float) -> Sequence[Look]:
        looks = []
        for number in range(LOOKS):
            if number:
                await asyncio.sleep(seconds / (LOOKS - 1))
            reply, page = await self._got(url + "/metrics", headers)
            if reply.status != 200:
                break
            looks.append(_exposition.look(page.decode(errors="replace"), reply.ours))
        return looks

    async def alerts(self, url: str) -> tuple[Reply, Sequence[Alert]]:
        """Of a Prometheus: whether it answers, and what fires."""
        reply = await self.ask(url.rstrip("/") + "/api/v1/alerts")
        data = reply.told.get("data")
        listed = data.get("alerts") if isinstance(data, dict) else None
        if not isinstance(listed, list):
            return (reply if reply.status != 200 else reply._replace(status=0, why="not a Prometheus")), ()
        firing = [one for one in listed if isinstance(one, dict) and one.get("state") == "firing"]
        return reply, [_alert(one) for one in firing[:_MOST]]

    async def trends(self, url: str) -> Sequence[Trend]:
        """Of the engines that a Prometheus scrapes: what a running request held six hours ago, and holds now."""
        now, before = await asyncio.gather(*(self._vector(url, _HELD.format(ago=ago)) for ago in ("", AGO)))
        return [Trend(one, before[one], now[one]) for one in sorted(now) if one in before][:_MOST]

    async def _vector(self, url: str, query: str) -> Mapping[str, float]:
        """The values of a query by instance; none where it can't be answered."""
        address = str(URL(url.rstrip("/") + "/api/v1/query").with_query(query=query))
        data = (await self.ask(address)).told.get("data")
        rows = data.get("result") if isinstance(data, dict) else None
        return dict(_values(rows if isinstance(rows, list) else []))


def _values(rows: Sequence[object]) -> Iterator[tuple[str, float]]:
    for row in rows:
        match row:
            case {"metric": {"instance": str(name)}, "value": [_, str(text)]} if math.isfinite(value := _float(text)):
                yield name, value


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _alert(told: Mapping[str, object]) -> Alert:
    labels, notes = told.get("labels"), told.get("annotations")
    labels, notes = (part if isinstance(part, dict) else {} for part in (labels, notes))
    return Alert(str(labels.get("alertname")), str(labels.get("severity", "")), str(notes.get("summary", "")))


def _word(fault: OSError) -> str:
    """Why there is no connection, in the system's own words."""
    return os.strerror(fault.errno) if fault.errno and fault.errno > 0 else "no such host"


def _date(text: str | None) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp() if text else None
    except ValueError:
        return None
