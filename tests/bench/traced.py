"""What traces cost: the gateway without them beside the same with them, as they are by default and with every request
traced.

First the work itself, in microseconds of processor time: of the event loop for an exchange without traces, for one
that is not sampled and one that is traced, and the thread that makes its spans. Then, unless `--only-work`, laps of
five gateways in turn: all run on one core; the load, the upstream and whoever gathers the traces have the other, and
every ratio is the median of the pairs.

    .venv/bin/python -m tests.bench.traced [--only-work] [--seconds 1] [--rounds 7]

The last line is JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import itertools
import json
import logging
import os
import socket
import statistics
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any

import uvloop
import yaml
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

from gateway import marks, workers
from gateway.config import Source, build
from gateway.ledger import Trip
from gateway.marks import Trace
from gateway.metrics import Metrics
from gateway.tracing._otlp import Exporter
from gateway.tracing.file import Tracing
from gateway.tracing.journey import Kin, journey
from gateway.tracing.spans import spans
from gateway.tracing.tracer import Tracer
from gateway.types import Exchange, Principal, Text, Usage
from tests.bench import load, upstream
from tests.bench.houses import furnished
from tests.bench.overhead import Server, process

NOWHERE = "http://127.0.0.1:9"
HEADERS = {"x-request-id": "rt-1", "content-type": "application/json"}
EXCHANGE = Exchange("rt-1", "chat", "m", Principal(), (Text(("messages", 0, "content"), "user", "hi"),), session="s")
WAYS: dict[str, dict[str, Any] | None] = {
    "off": None,
    "off again": None,  # how far apart two are that are the same
    "default": {},
    "unsampled": {"sample": 0.0},
    "every": {"per_second": 10_000, "queue": 100_000},
}


def work() -> dict[str, float]:
    """The processor time that the stages of an ordinary exchange take to note, and its spans to be made and written."""
    with tempfile.TemporaryDirectory() as folder:
        told = {}
        for name in ("off", "unsampled", "every"):
            spec = WAYS[name]
            tracer = Tracer(Metrics(), itertools.count().__next__)
            if spec is not None:
                source = house(Path(folder, name), NOWHERE, {**spec, "timeout_seconds": 0.1}, NOWHERE)
                asyncio.run(tracer.apply(build(source)))
            told[f"{name}_us"] = round(_least(partial(_pass, tracer)) - _least(_bare), 2)
            asyncio.run(tracer.stop())
    trace = Trace()
    marks.begin(trace)
    _road()
    marks.begin(None)
    kept = journey(_trip(), trace, Kin("openai", True), "session")
    exporter = Exporter(Tracing(endpoint=NOWHERE))
    told["spans"] = len(spans(kept))
    told["thread_us"] = round(_least(lambda: encode_spans(exporter.written(spans(kept))).SerializeToString(), 100), 2)
    return told


def _trip() -> Trip:
    trip = Trip(perf_counter(), "chat", 200, exchange=EXCHANGE, backend="backend")
    trip.draft.usage, trip.draft.finish = Usage(700, 50), {0: "stop"}
    return trip


def _bare() -> None:
    _trip()


def _pass(tracer: Tracer) -> None:
    trip = _trip()
    tracer.enters(trip, HEADERS)
    _road()
    tracer.over(trip)


def _road() -> None:
    """The stages of an exchange, as the road notes them."""
    with marks.stage("admit"):
        pass
    with marks.stage("judge"):
        pass
    with marks.stage("open", backend="backend"):
        with marks.stage("plan"):
            marks.note(donor="c" * 32, donor_reason="R101", mode="prefix")
        call = marks.stage("call", attempt=1, address="127.0.0.1", port=8000)
        call.carried(HEADERS)
    with marks.stage("relay"):
        pass
    marks.stage("settle", reason="accepted", kept=True).end()
    call.end()


def _least(run: Callable[[], object], times: int = 500) -> float:
    """Microseconds of this thread's processor time for one run: the least of many tries, whoever else is at work."""
    tries = []
    for _ in range(25):
        began = thread_time()
        for _ in range(times):
            run()
        tries.append((thread_time() - began) / times * 1e6)
    return min(tries)


def sink(sock: socket.socket) -> None:
    """Takes whatever is posted."""
    uvloop.run(_sink(sock))


async def _sink(sock: socket.socket) -> None:
    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).lower()
                await reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r\n")[0]))
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")

    server = await asyncio.start_server(take, sock=sock)
    await server.serve_forever()


def house(folder: Path, origin: str, tracing: dict[str, Any] | None, gatherer: str) -> Source:
    """A gateway as it is shipped, that traces in this way."""
    path = furnished(folder, [{"name": "backend", "type": "openai", "urls": [origin]}])
    told = yaml.safe_load(path.read_text(encoding="utf-8"))
    if tracing is not None:
        told["tracing"] = {"endpoint": gatherer, **tracing}
    path.write_text(yaml.safe_dump(told), encoding="utf-8")
    return Source(path)


async def measure(servers: dict[str, Server], kind: str, stream: bool, args: argparse.Namespace) -> dict[str, Any]:
    """Laps in turn; of each way, against `off`: the ratio of rates, and what a request costs and waits more."""
    payload = load.request(kind, stream)
    rates: dict[str, list[float]] = {name: [] for name in servers}
    costs: dict[str, list[float]] = {name: [] for name in servers}
    alone: dict[str, list[float]] = {name: [] for name in servers}
    for number in range(args.rounds + 1):
        for name, server in servers.items():
            lap, cost = await server.lap(payload, args.connections, args.seconds)
            single = await load.lap(server.port, payload, 1, args.seconds / 2)
            if number:  # the first warms up
                rates[name].append(lap.rate)
                costs[name].append(cost * 1e6)
                alone[name].append(single.quantile(0.5))
    return {name: _against(rates, costs, alone, name) for name in servers if name != "off"}


def _against(
    rates: dict[str, list[float]], costs: dict[str, list[float]], alone: dict[str, list[float]], name: str
) -> dict[str, float]:
    return {
        "rate_ratio": round(_median([b / a for a, b in zip(rates["off"], rates[name], strict=True)]), 4),
        "added_cpu_us": round(_median([b - a for a, b in zip(costs["off"], costs[name], strict=True)]), 2),
        "added_p50_ms": round(_median([b - a for a, b in zip(alone["off"], alone[name], strict=True)]), 4),
    }


def _median(values: Sequence[float]) -> float:
    return statistics.median(values)


async def _all(servers: dict[str, Server], args: argparse.Namespace) -> dict[str, Any]:
    await asyncio.sleep(2.0)
    told = {}
    for kind, stream in (("whole", False), ("stream", True)):
        told[kind] = await measure(servers, kind, stream, args)
        for name, figures in told[kind].items():
            print(f"{kind:7} {name:10} {figures}")
    return told


def main() -> None:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a lap")
    parser.add_argument("--rounds", type=int, default=7, help="laps of each")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--only-work", action="store_true", help="no laps")
    args = parser.parse_args()
    logging.disable(logging.WARNING)
    told: dict[str, Any] = {"work": work()}
    print(told["work"])
    print(json.dumps(told if args.only_work else {**told, **_laps(args)}))


def _laps(args: argparse.Namespace) -> dict[str, Any]:
    socks = [workers.bound("127.0.0.1", 0) for _ in range(2 + len(WAYS))]
    origin, gatherer = (f"http://127.0.0.1:{sock.getsockname()[1]}" for sock in socks[:2])
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as running:
        running.enter_context(process(1, upstream.run, socks[0], socks[0]))
        running.enter_context(process(1, sink, socks[1], socks[1]))
        servers = {}
        for (name, tracing), sock in zip(WAYS.items(), socks[2:], strict=True):
            source = house(Path(folder, name.replace(" ", "-")), origin, tracing, gatherer)
            servers[name] = running.enter_context(process(0, workers.work, sock, source, sock))
        os.sched_setaffinity(0, {1})
        return uvloop.run(_all(servers, args))


if __name__ == "__main__":
    main()
