"""Ten thousand captures on one engine: is the pool's account exact, does the engine's memory grow?

    python -m tests.bench.growth [--captures 10000]

A real vLLM with the plugin and a small random model answers that many requests, 16 at a time, each captured; every
second one is kept, the others are dropped, and the pool (16 MiB) must make room all the while. Resident memory of the
engine's processes is taken every tenth of the way; the first tenth counts as warming up. The last line is JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np
import psutil
from rich.console import Console

from deploy.setup.engine import Engine, ensure
from deploy.setup.paths import pool
from deploy.vllm.launch import Launch
from gateway.kv._held import HEADER

console = Console(highlight=False)

BESIDE = 16  # requests at a time
LENGTH = 150  # tokens of a prompt: one whole block and a rest


async def captured(http: aiohttp.ClientSession, url: str, number: int) -> None:
    """One request with its verdict."""
    rng = random.Random(number)
    name = f"growth-{number}"
    body: dict[str, Any] = {"model": "tiny", "prompt": [rng.randrange(40, 250) for _ in range(LENGTH)], "max_tokens": 2}
    body |= {"cache_salt": f"s{number % 7}", "kv_transfer_params": {"retrace": {"capture": name}}}
    async with http.post(f"{url}/v1/completions", json=body) as answer:
        await answer.read()
        if answer.status != 200:
            raise SystemExit(f"the engine answered {answer.status}")
    address = f"{url}/retrace/v1/captures/{name}"
    async with http.post(address, json={"reason": "R203"}) if number % 2 else http.delete(address) as told:
        await told.read()


async def some(url: str, numbers: range) -> None:
    """Many of them, a few at a time."""
    left = iter(numbers)

    async def worker(http: aiohttp.ClientSession) -> None:
        for number in left:
            await captured(http, url, number)

    async with aiohttp.ClientSession() as http:
        await asyncio.gather(*(worker(http) for _ in range(BESIDE)))


def resident(engine: Engine) -> float:
    """MiB that the engine's processes hold, shared memory left out."""
    assert engine.pid is not None
    whole = psutil.Process(engine.pid)
    told = [process.memory_info() for process in (whole, *whole.children(recursive=True))]
    return sum(info.rss - info.shared for info in told) / (1 << 20)


async def account(url: str) -> tuple[int, int]:
    """Bytes of the pool as its health tells them, and as its captures add up."""
    async with aiohttp.ClientSession() as http:
        told = await (await http.get(f"{url}/retrace/v1/health")).json()
        listed = await (await http.get(f"{url}/retrace/v1/captures?limit=1000")).json()
    return told["pool"]["bytes"], sum(entry["bytes"] for entry in listed["captures"])


def main() -> None:
    made = argparse.ArgumentParser(
        prog="python -m tests.bench.growth", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--captures", type=int, default=10_000, help="how many (default: 10000)")
    options = made.parse_args()
    began, step = time.monotonic(), max(options.captures // 10, 1)
    more = {"RETRACE_POOL_GIB": f"{16 / 1024:.5f}", "RETRACE_POOL_HOLD": "60"}
    engine = ensure(wanted=Launch(model="tiny", served="tiny", env=more), replace=True)
    try:
        memory = []
        for start in range(0, options.captures, step):
            asyncio.run(some(engine.url, range(start, start + step)))
            memory.append(resident(engine))
            console.print(f"  {start + step} captures: {memory[-1]:.0f} MiB")
        time.sleep(6)  # one sweep
        told, listed = asyncio.run(account(engine.url))
        lying = sum(path.stat().st_size - HEADER for path in Path(pool()).glob("*.kv"))
    finally:
        engine.stop()
    slope = np.polyfit(range(len(memory) - 1), memory[1:], 1)[0] if len(memory) > 2 else float("nan")
    out = {
        "captures": options.captures,
        "pool_bytes": told,
        "captures_bytes": listed,
        "files_bytes": lying,
        "exact": told == listed == lying,
        "memory_mib": [round(one) for one in memory],
        "growth_kib_a_capture": round(float(slope) * 1024 / step, 3),
        "seconds": round(time.monotonic() - began),
    }
    print(json.dumps(out))
    raise SystemExit(0 if out["exact"] else 1)


if __name__ == "__main__":
    main()
