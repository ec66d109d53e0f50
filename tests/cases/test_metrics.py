"""Cases on figures: sums over workers that never fall, and labels that no client can fill."""

from __future__ import annotations

import asyncio
import itertools
import os
import re
import signal
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp
import psutil
import pytest
import yaml

from tests.commands import served
from tests.rig import CHAT, PROMPT, REASONS, answers, completion, gateway, regex, upstream

COUNTED = re.compile(r"_(total|count|sum|bucket)(\{|$)")


def scripted(folder: Path) -> Path:
    files: dict[str, Any] = {
        "gateway.yaml": {"backends": [{"name": "s", "type": "scripted", "file": "s.yaml"}], "rules": ["rules.yaml"]},
        "s.yaml": {"answers": [{"text": "one two three"}]},
        "rules.yaml": {"rules": [regex("two", action="tag")]},
        "reasons.yaml": {"reasons": REASONS},
    }
    for name, value in files.items():
        (folder / name).write_text(yaml.safe_dump(value))
    return folder / "gateway.yaml"


async def scrape(http: aiohttp.ClientSession, url: str) -> dict[str, float]:
    async with http.get(f"{url}/metrics", headers={"connection": "close"}) as response:
        lines = (await response.text()).splitlines()
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")}


@pytest.mark.long
async def test_C80_four_workers_count_as_one_and_never_backwards(tmp_path: Path) -> None:
    count = 1000
    async with (
        served("--config", str(scripted(tmp_path)), "--port", "0", "--workers", "4") as (url, process),
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http,
    ):
        left = iter(range(count))

        async def ask() -> None:
            for number in left:  # one hand-out for all askers; a new connection each, so that all workers serve
                body = {**CHAT, "stream": number % 2 == 0}
                headers = {"connection": "close"}
                async with http.post(f"{url}/v1/chat/completions", json=body, headers=headers) as response:
                    assert response.status == 200
                    await response.read()

        async def watch() -> list[dict[str, float]]:
            seen = []
            for _ in range(20):
                seen.append(await scrape(http, url))
                await asyncio.sleep(0.03)
            return seen

        watching = asyncio.create_task(watch())
        await asyncio.gather(*(ask() for _ in range(16)))
        last = await scrape(http, url)
        for before, after in itertools.pairwise([*await watching, last]):
            fallen = {name for name in before if COUNTED.search(name) and after.get(name, 0) < before[name]}
            assert not fallen
        requests = {n: v for n, v in last.items() if n.startswith("retrace_requests_total") and '"chat"' in n}
        assert sum(requests.values()) == count
        assert requests['retrace_requests_total{status="200",stream="true",surface="chat"}'] == count / 2
        labels = 'action="tag",reason="R101",rule="output.regex",side="output"'
        assert last[f"retrace_verdicts_total{{{labels}}}"] == count
        assert last['retrace_request_duration_seconds_count{surface="chat"}'] == count
        assert last["retrace_in_flight"] == 0
        assert last["retrace_reload_ok"] == 1
        assert all("pid=" not in name for name in last)

        servers = _workers(process.pid)
        assert len(servers) == 4
        os.kill(servers[0].pid, signal.SIGKILL)
        async with asyncio.timeout(15):
            while len(new := _workers(process.pid)) < 4 or servers[0] in new:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        after = await scrape(http, url)
        assert after['retrace_requests_total{status="200",stream="true",surface="chat"}'] == count / 2  # the dead's too
        assert after["retrace_in_flight"] == 0


def _workers(parent: int) -> list[psutil.Process]:
    alive = []
    for child in psutil.Process(parent).children():
        with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
            if "spawn_main" in " ".join(child.cmdline()):
                alive.append(child)
    return alive


async def test_C81_paths_that_nobody_knows_share_one_label(tmp_path: Path) -> None:
    async with upstream(answers(completion("hi"))) as (url, _), gateway(tmp_path, [url]) as running:
        await (await running.http.get(f"{running.url}/first")).read()
        before = set(await running.metrics())
        for number in range(300):
            method = ("GET", "POST", "PUT", "DELETE")[number % 4]
            async with running.http.request(method, f"{running.url}/{os.urandom(6).hex()}/{number}") as response:
                assert response.status == 404
        told = await running.metrics()
    assert set(told) == before
    surfaces = Counter(re.findall(r'surface="([^"]*)"', " ".join(told)))
    assert set(surfaces) == {"unmatched"}
    assert told['retrace_requests_total{status="404",stream="false",surface="unmatched"}'] == 301


async def test_C82_nothing_that_a_client_writes_becomes_a_label(tmp_path: Path) -> None:
    async with upstream(answers(completion("hi"))) as (url, _), gateway(tmp_path, [url]) as running:

        async def ask(number: int) -> None:
            mark = f"clientsays{number}"
            headers = {"x-request-id": mark, "user-agent": mark, "x-retrace-tenant": mark, "x-tenant": mark}
            body: dict[str, Any] = {
                "model": mark,
                "user": mark,
                "safety_identifier": mark,
                "metadata": {"user_id": mark},
            }
            body |= {"messages": [{"role": mark, "name": mark, "content": mark}], "prompt": mark, "n": 1 + number % 9}
            for path in ("/v1/chat/completions", "/v1/completions", "/v1/embeddings", f"/v1/models/{mark}"):
                async with running.http.post(f"{running.url}{path}", json=body, headers=headers) as response:
                    assert response.status == 200

        await ask(0)
        before = set(await running.metrics())
        for number in range(1, 150):
            await ask(number)
        told = await running.metrics()
    assert set(told) == before
    assert "clientsays" not in " ".join(told)
    assert PROMPT
