"""A Redis server, asked for what it is: one connection, five questions. Nothing is written."""

from __future__ import annotations

import asyncio
import time

from gateway.stores._link import Fault, Link, Refusal
from gateway.symptoms import Server

PATIENCE = 3.0  # seconds
PINGS = 5


async def server(use: str, url: str, patience: float = PATIENCE) -> Server:
    """What it says of itself. `url` may hold a password, which is told to nobody else."""
    link = Link(url)
    try:
        await link.open(patience)
        async with asyncio.timeout(patience):
            return await _asked(use, link)
    except (Fault, TimeoutError) as fault:
        return Server(use, why=str(fault) or "timeout")
    finally:
        await link.close()


async def _asked(use: str, link: Link) -> Server:
    took = []
    for _ in range(PINGS):
        began = time.perf_counter()
        await link.ask("PING")
        took.append(1000 * (time.perf_counter() - began))
    memory = await _memory(link)
    before = time.time()
    seconds, micros = await link.ask("TIME")
    ours = (before + time.time()) / 2
    return Server(
        use,
        milliseconds=sorted(took)[PINGS // 2],
        policy=memory.get("maxmemory_policy"),
        used=int(memory.get("used_memory", 0)),
        most=int(memory.get("maxmemory", 0)),
        ahead=int(seconds) + int(micros) / 1e6 - ours,
    )


async def _memory(link: Link) -> dict[str, str]:
    """Its own figures; empty where a server that others run doesn't tell them."""
    try:
        told = bytes(await link.ask("INFO", "memory")).decode(errors="replace")
    except Refusal:
        return {}
    pairs = (line.partition(":") for line in told.splitlines())
    return {name: value.strip() for name, mark, value in pairs if mark}
