"""What the gateway costs: its rates beside those of a bare aiohttp pass-through, and the price of judging.

Both proxies run on one core with the same event loop and the same upstream; the load and the upstream have the other
core. Laps alternate between the two and every ratio is the median of the pairs, so that a noisy machine cancels out.

    .venv/bin/python -m tests.bench.overhead [--seconds 2] [--rounds 5]

The last line is JSON.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import multiprocessing
import os
import socket
import statistics
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import uvloop

from gateway import workers
from gateway.config import Source
from tests.bench import bare, judging, load, upstream

RULES = Path(__file__).parents[2] / "rules" / "gateway.yaml"


def _pinned(core: int, run: Callable[..., None], *args: Any) -> None:
    with contextlib.suppress(OSError):
        os.sched_setaffinity(0, {core})
    run(*args)


class Server(NamedTuple):
    """A proxy under test."""

    port: int
    process: psutil.Process

    def cpu(self) -> float:
        """Seconds of processor time that it has used."""
        times = self.process.cpu_times()
        return float(times.user + times.system)

    async def lap(self, payload: bytes, connections: int, seconds: float) -> tuple[load.Lap, float]:
        """A lap of load, and the processor time that each request cost."""
        before = self.cpu()
        lap = await load.lap(self.port, payload, connections, seconds)
        return lap, (self.cpu() - before) / max(len(lap.latencies), 1)


@contextlib.contextmanager
def process(core: int, run: Callable[..., None], sock: socket.socket, *args: Any) -> Iterator[Server]:
    """A server in a process of its own."""
    child = multiprocessing.get_context("fork").Process(target=_pinned, args=(core, run, *args), daemon=True)
    child.start()
    try:
        yield Server(sock.getsockname()[1], psutil.Process(child.pid))
    finally:
        child.terminate()
        child.join()


async def compare(
    name: str, servers: tuple[Server, Server], payload: bytes, connections: int, args: argparse.Namespace
) -> dict[str, float]:
    """Alternating laps on (bare, gateway): median ratios of rates and processor time, and latencies."""
    pairs, costs = [], []
    for number in range(args.rounds + 1):
        (plain, plain_cost), (guarded, guarded_cost) = [
            await server.lap(payload, connections, args.seconds) for server in servers
        ]
        if number:  # the first pair warms up
            pairs.append((plain, guarded))
            costs.append(plain_cost / guarded_cost)
        told = f"{name}: lap {number}/{args.rounds}  bare {plain.rate:.0f}/s  gateway {guarded.rate:.0f}/s   "
        print(f"\r{told}", end="", file=sys.stderr)
    print(file=sys.stderr)
    return {
        "ratio": round(statistics.median(guarded.rate / plain.rate for plain, guarded in pairs), 3),
        "cpu_ratio": round(statistics.median(costs), 3),
        "bare_rate": round(statistics.median(plain.rate for plain, _ in pairs)),
        "gateway_rate": round(statistics.median(guarded.rate for _, guarded in pairs)),
        **{
            f"{who}_p{share}_ms": round(statistics.median(pair[side].quantile(share / 100) for pair in pairs), 3)
            for side, who in enumerate(("bare", "gateway"))
            for share in (50, 99)
        },
    }


async def _measure(servers: tuple[Server, Server], args: argparse.Namespace) -> dict[str, Any]:
    for server in servers:
        await load.ready(server.port)
    whole = await compare("requests, 32 connections", servers, load.request("whole", False), 32, args)
    stream = await compare("streams of 64 writes, 32 connections", servers, load.request("stream", True), 32, args)
    burst = await compare("the same stream in one burst", servers, load.request("burst", True), 32, args)
    alone = await compare("requests, 1 connection", servers, load.request("whole", False), 1, args)
    return {
        "rate_ratio": whole["ratio"],
        "stream_rate_ratio": stream["ratio"],
        "burst_rate_ratio": burst["ratio"],
        "added_p50_ms_c1": round(alone["gateway_p50_ms"] - alone["bare_p50_ms"], 3),
        "added_p99_ms_c1": round(alone["gateway_p99_ms"] - alone["bare_p99_ms"], 3),
        "c32": whole,
        "stream": stream,
        "burst": burst,
        "c1": alone,
    }


def main() -> None:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=2.0, help="length of a lap")
    parser.add_argument("--rounds", type=int, default=5, help="pairs of laps")
    args = parser.parse_args()
    logging.disable(logging.WARNING)
    figures = judging.measure()
    socks = [workers.bound("127.0.0.1", 0) for _ in range(3)]
    source = Source(RULES, backend=f"http://127.0.0.1:{socks[0].getsockname()[1]}")
    with (
        process(1, upstream.run, socks[0], socks[0]) as origin,
        process(0, bare.run, socks[1], socks[1], f"http://127.0.0.1:{origin.port}") as plain,
        process(0, workers.work, socks[2], source, socks[2]) as guarded,
    ):
        os.sched_setaffinity(0, {1})
        figures |= uvloop.run(_measure((plain, guarded), args))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
