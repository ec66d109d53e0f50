"""What watching costs a request: two gateways beside each other, one that watches itself and one that doesn't.

    python -m tests.bench.watch_rate [--seconds 0.3] [--rounds 12] [--pairs 6]

Both run the rules as shipped, on one core, before one upstream that answers from memory; load, upstream, who takes the
traces and the process that writes the audit log have the other core; `clerk_us` is what a request costs there. One of
them also keeps an audit log (words redacted, synced in batches), watches reuse (with repeats, and a controller that may
act) and traces everything that its bounds let it. Laps alternate, and change their order with each round; each ratio is
of two laps of one round, so that a noisy machine cancels out; and there are several pairs of gateways, since two
processes are never quite alike.

The last line is JSON; the exit status is 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import logging
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import uvloop
import yaml

from gateway import workers
from gateway.config import Source
from tests.bench import load, upstream
from tests.bench.overhead import RULES, Server, process

RATE_BAR, P50_BAR = 0.03, 0.2  # of the rate; milliseconds
KINDS = {"whole": False, "stream": True}
TAKEN = b"HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: 0\r\n\r\n"


class Endpoint(upstream.Upstream):
    """An upstream that takes traces, too."""

    def data_received(self, data: bytes) -> None:
        if not self._data and not data.startswith(b"POST /v1/traces"):
            super().data_received(data)
            return
        self._data += data
        head, mark, body = self._data.partition(b"\r\n\r\n")
        if not head.startswith(b"POST /v1/traces"):
            self._data = b""
            super().data_received(head + mark + body)
        elif mark and len(body) >= upstream.length(head):
            self._data = b""
            self._transport.write(TAKEN)


class Round(NamedTuple):
    """Two laps of one round, and what each request cost of processor time; of `clerk_cpu` in the process beside."""

    off: load.Lap
    on: load.Lap
    off_cpu: float
    on_cpu: float
    clerk_cpu: float

    @property
    def cost(self) -> float:
        """The share of the request rate that is lost."""
        return 1 - self.on.rate / self.off.rate

    @property
    def added(self) -> float:
        """Milliseconds at the median."""
        return self.on.quantile(0.5) - self.off.quantile(0.5)


class Laps(NamedTuple):
    """Of many connections, of as many streams, and of a connection alone."""

    many: list[Round]
    streams: list[Round]
    alone: list[Round]


def furnished(folder: Path, sink: str, watching: bool) -> Path:
    """The rules as shipped, in a folder of their own; with all that watches, or without any of it."""
    shutil.copytree(RULES.parent, folder, ignore=shutil.ignore_patterns("tuned.yaml", "policies.yaml", "*.lock"))
    told = yaml.safe_load(RULES.read_text(encoding="utf-8"))
    for name in ("audit", "watch", "tracing"):
        told.pop(name, None)
    if watching:
        watch = yaml.safe_load((RULES.parent / "watch.yaml").read_text(encoding="utf-8"))
        watch["control"]["mode"] = "act"
        (folder / "watch.yaml").write_text(yaml.safe_dump(watch), encoding="utf-8")
        told |= {"audit": {"folder": "audit"}, "watch": "watch.yaml", "tracing": {"endpoint": sink}}
    (folder / "gateway.yaml").write_text(yaml.safe_dump(told, allow_unicode=True), encoding="utf-8")
    return folder / "gateway.yaml"


def clerk(server: Server) -> float:
    """Seconds of processor time that the process has used that writes its audit log. It has the other core, as it
    would on a machine of its own."""
    used = 0.0
    for child in server.process.children():
        for thread in child.threads():
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(thread.id, {1})
        times = child.cpu_times()
        used += times.user + times.system
    return used


async def settled(server: Server, count: int) -> None:
    """Wait until so many processes work for it."""
    async with asyncio.timeout(10):
        while len(server.process.children()) < count:  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.01)


async def rounds(pair: tuple[Server, Server], kind: str, connections: int, args: argparse.Namespace) -> list[Round]:
    """Alternating laps; those of the first round warm up."""
    payload, seen = load.request(kind, KINDS[kind]), []
    for number in range(args.rounds + 1):
        laps: dict[int, tuple[load.Lap, float]] = {}
        before = clerk(pair[1])
        for which in (0, 1) if number % 2 else (1, 0):
            laps[which] = await pair[which].lap(payload, connections, args.seconds)
        (off, off_cpu), (on, on_cpu) = laps[0], laps[1]
        if number:
            seen.append(Round(off, on, off_cpu, on_cpu, (clerk(pair[1]) - before) / len(on.latencies)))
        told = f"{kind}, {connections} connections: {number}/{args.rounds}  off {off.rate:.0f}/s  on {on.rate:.0f}/s  "
        print(f"\r{told}", end="", file=sys.stderr)
    print(file=sys.stderr)
    return seen


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median and quartiles."""
    low, middle, high = statistics.quantiles(values, n=4)
    return {"median": round(middle, 4), "q1": round(low, 4), "q3": round(high, 4)}


async def laps(pair: tuple[Server, Server], args: argparse.Namespace) -> Laps:
    """What one pair of gateways shows."""
    for server in pair:
        await load.ready(server.port)
    await settled(pair[1], 1)
    return Laps(
        await rounds(pair, "whole", 32, args),
        await rounds(pair, "stream", 32, args),
        await rounds(pair, "whole", 1, args),
    )


def paired(args: argparse.Namespace) -> Laps:
    """The same of a new pair of gateways."""
    socks = [workers.bound("127.0.0.1", 0) for _ in range(3)]
    base = f"http://127.0.0.1:{socks[0].getsockname()[1]}"
    with tempfile.TemporaryDirectory() as home, contextlib.ExitStack() as stack:
        sources = [Source(furnished(Path(home, name), base, name == "on"), backend=base) for name in ("off", "on")]
        stack.enter_context(process(1, upstream.run, socks[0], socks[0], Endpoint))
        made = [
            stack.enter_context(process(0, workers.work, sock, source, sock))
            for source, sock in zip(sources, socks[1:], strict=True)
        ]
        os.sched_setaffinity(0, {1})
        return uvloop.run(laps((made[0], made[1]), args))


def measured(seconds: float = 0.3, count: int = 12, pairs: int = 6) -> dict[str, Any]:
    """All of it: `rate_cost` (a share) and `added_p50_ms` beside their quartiles, and whether each bar is reached."""
    args = argparse.Namespace(seconds=seconds, rounds=count)
    logging.disable(logging.WARNING)
    seen = [paired(args) for _ in range(pairs)]
    many, streams, alone = ([one for each in kind for one in each] for kind in zip(*seen, strict=True))
    cost, added = spread([one.cost for one in many]), spread([one.added for one in alone])
    return {
        "rate_cost": cost["median"],
        "added_p50_ms": added["median"],
        "rate": {
            "cost": cost,
            "cpu_cost": spread([one.on_cpu / one.off_cpu - 1 for one in many]),
            "off_us": round(1e6 * statistics.median(one.off_cpu for one in many), 1),
            "clerk_us": round(1e6 * statistics.median(one.clerk_cpu for one in many), 1),
            "off_rate": round(statistics.median(one.off.rate for one in many)),
            "stream_cost": spread([one.cost for one in streams]),
            "added_ms": added,
        },
        "bars": {"rate_cost": cost["median"] <= RATE_BAR, "added_p50_ms": added["median"] <= P50_BAR},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.3, help="length of a lap")
    parser.add_argument("--rounds", type=int, default=12, help="pairs of laps, of each pair of gateways")
    parser.add_argument("--pairs", type=int, default=6, help="pairs of gateways")
    args = parser.parse_args()
    told = measured(args.seconds, args.rounds, args.pairs)
    print(json.dumps(told))
    raise SystemExit(0 if all(told["bars"].values()) else 1)


if __name__ == "__main__":
    main()
