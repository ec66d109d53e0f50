"""Processes on one port: started, replaced, ended together."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from pathlib import Path

import aiohttp
import psutil
import pytest

from gateway.workers import bound
from tests.cases.test_metrics import scripted
from tests.commands import served
from tests.plugin import engine
from tests.rig import CHAT, answers, completion, said, until, write_config


def test_a_bound_address_is_open_at_once() -> None:
    """Who connects before a worker is ready waits, and is not refused."""
    with bound("127.0.0.1", 0) as sock, socket.create_connection(sock.getsockname(), 1):
        pass


def test_a_taken_address_is_an_error() -> None:
    with bound("127.0.0.1", 0) as sock, pytest.raises(OSError, match="in use"):
        bound("127.0.0.1", sock.getsockname()[1])


def test_ipv6_is_understood() -> None:
    with bound("::1", 0) as sock:
        assert sock.family is socket.AF_INET6


@pytest.mark.long
@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_all_of_it_and_well(tmp_path: Path, by: signal.Signals, workers: str) -> None:
    words = ("--config", str(scripted(tmp_path)), "--port", "0", "--workers", workers)
    async with served(*words) as (url, process), aiohttp.ClientSession() as http:
        async with http.post(f"{url}/v1/chat/completions", json={**CHAT, "stream": True}) as response:
            assert said(await response.read()) == "one two three"
        children = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(by)
        assert await asyncio.wait_for(process.wait(), 12) == 0
        _, alive = psutil.wait_procs(children, timeout=2)
        assert alive == []
        with pytest.raises(aiohttp.ClientError):
            await http.get(f"{url}/healthz")


@pytest.mark.long
async def test_workers_do_not_outlive_their_supervisor(tmp_path: Path) -> None:
    """Killed without a chance to say so: the port must be free for the next."""
    words = ("--config", str(scripted(tmp_path)), "--port", "0", "--workers", "2")
    async with served(*words, by_force=True) as (url, process):
        async with aiohttp.ClientSession() as http, http.get(f"{url}/healthz") as response:
            assert response.status == 200
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        _, alive = await asyncio.to_thread(psutil.wait_procs, children, 8)
        for child in alive:
            child.kill()
        assert alive == []


@pytest.mark.long
async def test_edits_reach_every_worker(tmp_path: Path) -> None:
    words = ("--config", str(scripted(tmp_path)), "--port", "0", "--workers", "2")
    async with served(*words) as (url, _), aiohttp.ClientSession() as http:

        async def answers() -> set[str]:
            found = set()
            for _ in range(12):
                async with http.post(
                    f"{url}/v1/chat/completions", json={**CHAT, "stream": True}, headers={"connection": "close"}
                ) as response:
                    found.add(said(await response.read()))
            return found

        assert await answers() == {"one two three"}
        rules = (tmp_path / "rules.yaml").read_text()
        (tmp_path / "rules.yaml").write_text(rules.replace("tag", "mask"))
        async with asyncio.timeout(10):
            while await answers() != {"one *** three"}:  # noqa: ASYNC110
                await asyncio.sleep(0.05)


@pytest.mark.long
async def test_the_folder_of_figures_goes_with_the_gateway(tmp_path: Path) -> None:
    words = ("--config", str(scripted(tmp_path)), "--port", "0", "--workers", "2")
    home = tmp_path / "tmp"
    home.mkdir()
    async with served(*words, TMPDIR=str(home)) as (url, _):
        assert url
        assert [name for name in os.listdir(home) if name.startswith("retrace-metrics-")]
    assert [name for name in os.listdir(home) if name.startswith("retrace-metrics-")] == []


@pytest.mark.long
async def test_workers_have_one_salt_for_a_tenant(tmp_path: Path) -> None:
    """Else the prompts that one has warmed up would be cold for the other."""
    async with engine(answers(completion("hi"))) as (up_url, up, plugin):
        config = write_config(tmp_path, [up_url], [], backend={"health_seconds": 0.05})
        words = ("--config", str(config), "--port", "0", "--workers", "2")
        async with served(*words) as (url, _), aiohttp.ClientSession() as http:
            await until(lambda: plugin.asked >= 2, 20)
            for _ in range(40):
                headers = {"connection": "close"}  # the next may take it
                async with http.post(f"{url}/v1/chat/completions", json=CHAT, headers=headers) as response:
                    assert response.status == 200
        salts = {seen.json.get("cache_salt") for seen in up.calls[4:]}
    assert salts
    assert len(salts - {None}) == 1
