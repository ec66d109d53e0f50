"""The audit log under load: lines a second, what `kill -9` costs, how fast it is verified, how fast the way back is.

    python -m tests.bench.watch_audit [--records 1000000] [--kills 20]

- lines     what the gateway does at the end of an exchange, with redacted words, until all of it is synced
- kill      a gateway is killed at random moments, half the time with the process that writes for it: no line that it
            knew to be synced may be missing, and of the others only those that were still waiting; the next start must
            say so, and the chain must be whole
- verify    the chain of all records
- hops      the way back over captures and donors, five deep, of exchanges drawn at random, their lines read

The last line is JSON; the exit status is 1 if a bar is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import mmap
import os
import random
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil

from gateway.audit import proof, search
from gateway.audit._desk import Desk
from gateway.audit._log import Bounds, Log
from gateway.audit._row import Fields
from gateway.audit.auditor import Auditor
from gateway.audit.search import searching
from gateway.audit.settings import Auditing
from gateway.config import Source, build
from gateway.ledger import Trip
from gateway.metrics import Metrics
from gateway.types import Action, Draft, Exchange, Finding, Principal, Text, Usage
from tests.audit.logs import HOUSE, capture, exchange, lines, name, reuse
from tests.rig import regex, write_config

LINES_BAR, HOPS_BAR = 5000.0, 15.0  # a second; milliseconds, of which 99 in 100 must stay below
ROOT = Path(__file__).parents[2]
SAID = "The warehouse ships on Mondays and Thursdays, and it takes about two days until a parcel is there. " * 4
MAIL = "Write to orders@example.com if it is late."
ASKED = "When does my parcel leave, and whom do I ask about it if it is late? I live in the north of the town."
EACH = 10  # one exchange in so many has a finding, and one tells an address; the others are quiet
GATHER = Auditing().batch_ms / 1000  # seconds
_STATE = struct.Struct("qq")  # lines that were put before the writer; lines that it has said are synced


def trips(count: int) -> Iterator[Trip]:
    """Exchanges as the gateway has them at their end."""
    found = Finding("output.tag", "R101", Action.TAG, 0, 13, text="The warehouse")
    for number in range(count):
        texts = (Text(("messages", 0, "content"), "user", ASKED),)
        asked = Exchange(name(number), "chat", "m", Principal(), texts, True)
        draft = Draft([] if number % EACH else [found], usage=Usage(40, 80), finish={0: "stop"})
        told = SAID if number % EACH != 1 else SAID + MAIL
        trip = Trip(0.0, "chat", 200, exchange=asked, draft=draft, revision="r", recorded=True, asked={})
        trip.said = {0: told}
        yield trip


async def written(auditor: Auditor) -> None:
    """Wait until all that was put is written."""
    desk = auditor._desk
    while desk is not None and desk.handed:  # noqa: ASYNC110 - what is waited for tells nobody
        await asyncio.sleep(0.01)


async def room(auditor: Auditor) -> None:
    """Wait until the clerk has come half the way."""
    desk = auditor._desk
    while desk is not None and desk.handed > 5000:  # noqa: ASYNC110 - what is waited for tells nobody
        await asyncio.sleep(0.001)


async def rate(count: int) -> dict[str, float]:
    """Lines a second from the end of an exchange to the disk, and microseconds that the gateway itself is held up."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        house = build(
            Source(write_config(folder, ["http://127.0.0.1:1"], [regex("The warehouse", action="tag")], audit={}))
        )
        metrics = Metrics()
        auditor = Auditor(metrics)
        await auditor.apply(house)
        await written(auditor)
        held, began = 0.0, time.perf_counter()
        for number, trip in enumerate(trips(count)):
            start = time.perf_counter()
            auditor.over(trip)
            held += time.perf_counter() - start
            if number % 100 == 0:
                await room(auditor)
        await auditor.stop()
        seconds = time.perf_counter() - began
        told = sum(1 for line in lines(folder / "audit") if line["kind"] == "exchange")
    assert told == count, (told, count)
    return {"lines_s": count / seconds, "over_us": held / count * 1e6}


def untold(_trip: Trip) -> Fields:
    raise AssertionError("only lines are put here")


async def child(folder: Path, state: Path) -> None:
    """Write until somebody kills us; `state` knows how far we are."""
    with state.open("r+b") as file:
        known = mmap.mmap(file.fileno(), _STATE.size)
    put = synced = 0

    def count(event: str, more: int) -> None:
        nonlocal synced
        synced += more if event == "written" else 0
        known[8:16] = struct.pack("q", synced)

    desk = Desk(folder, Bounds(1 << 30, 16, "batch", GATHER), 100_000, untold, count)
    desk.start()
    while True:
        for _ in range(50):
            desk.put(exchange(put, said={"0": SAID}))
            put += 1
            known[0:8] = struct.pack("q", put)
        await asyncio.sleep(0.01)


def ended(process: psutil.Process, whom: str) -> None:
    """Kill a gateway, or the clerk that writes for it first, and wait until both are gone."""
    clerks = process.children()
    for one in [*clerks, process] if whom == "clerk" else [process]:
        one.send_signal(signal.SIGKILL)
    psutil.wait_procs([*clerks, process], timeout=30)


def killed(times: int) -> dict[str, Any]:
    """Kill a gateway so often, every other time with the process that writes for it. Lines that were synced and are
    gone, the most that waited and are gone, starts that said so, and chains that are whole."""
    gone_synced, waited, most_gone, told, whole, torn = 0, 0, 0, 0, 0, 0
    for number in range(times):
        with tempfile.TemporaryDirectory() as home:
            folder, state = Path(home) / "audit", Path(home) / "state"
            state.write_bytes(_STATE.pack(0, 0))
            words = [sys.executable, "-m", "tests.bench.watch_audit", "--child", str(folder), str(state)]
            process = subprocess.Popen(words, cwd=ROOT)
            while _STATE.unpack(state.read_bytes())[1] == 0:
                time.sleep(0.01)
            time.sleep(random.uniform(0.0, 0.3))
            ended(psutil.Process(process.pid), ("gateway", "clerk")[number % 2])
            process.wait()
            put, synced = _STATE.unpack(state.read_bytes())
            Log(folder, Bounds(1 << 30, 16, "batch", GATHER)).close()
            read = lines(folder)
            there = [line for line in read if line["kind"] == "exchange"]
            assert [line["id"] for line in there] == list(map(name, range(len(there))))
            starts = [line for line in read if line["kind"] == "start"]
            gone_synced += max(synced - len(there), 0)
            waited, most_gone = max(waited, put - synced), max(most_gone, put - len(there))
            told += starts[-1]["clean"] is False and starts[-1]["unsynced_ms"] == round(GATHER * 1000)
            torn += starts[-1]["torn"] is not None
            whole += all(chain.broken is None for chain in proof.verified(folder))
    figures = {"kills": times, "synced_lost": gone_synced, "unsynced_most": waited, "lost_most": most_gone}
    return {**figures, "said_so": told, "whole": whole, "torn": torn}


def filled(folder: Path, count: int) -> None:
    """A log of so many exchanges and the captures they made; most were served by an earlier one's."""
    log = Log(folder, Bounds(64 << 20, 1 << 20, "rotate", GATHER))
    log.append([HOUSE])
    draw = random.Random(1)
    batch: list[Mapping[str, Any]] = []
    for number in range(count):
        donor = draw.randrange(number) if number and draw.random() < 0.8 else None
        batch += [exchange(number), reuse(number, donor=donor)]
        if len(batch) >= 1000:
            log.append(batch)
            batch = []
    log.append(batch)
    log.close()


def found(folder: Path, count: int, asked: int = 3000) -> dict[str, float]:
    """Milliseconds of the way back, its lines read; how deep it went on average."""
    draw, times, deep = random.Random(2), [], []
    with searching(folder, caught_up=False) as index:
        for _ in range(asked):
            wanted = draw.randrange(count)
            start = time.perf_counter()
            hops = index.back(name(wanted))
            times.append((time.perf_counter() - start) * 1000)
            assert hops[0].capture["capture"] == capture(wanted)
            deep.append(hops[-1].deep)
    cuts = statistics.quantiles(times, n=100)
    return {
        "hops_p50_ms": cuts[49],
        "hops_p99_ms": cuts[98],
        "hops_most_ms": max(times),
        "deep": statistics.fmean(deep),
    }


def large(records: int) -> dict[str, Any]:
    """Verifying, indexing and searching a log of that many exchanges, with as many captures."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "audit"
        filled(folder, records)
        size = proof.size(folder)
        start = time.perf_counter()
        (chain,) = proof.verified(folder)
        verify = time.perf_counter() - start
        assert chain.broken is None, chain.broken
        start = time.perf_counter()
        count = search.indexed(folder)
        index = time.perf_counter() - start
        told = found(folder, records)
    speeds = {
        "verify_lines_s": chain.lines / verify,
        "verify_mb_s": size / verify / 1e6,
        "index_lines_s": count / index,
    }
    return {"records": records, "lines": chain.lines, **speeds, **told}


def measured(records: int = 1_000_000, kills: int = 20, count: int = 50_000) -> dict[str, Any]:
    """All of it, and whether each bar is reached."""
    told = {**asyncio.run(rate(count)), **killed(kills), **large(records)}
    bars = {
        "lines": told["lines_s"] >= LINES_BAR,
        "kill": told["synced_lost"] == 0 and told["lost_most"] <= told["unsynced_most"],
        "said_so": told["said_so"] == told["whole"] == kills,
        "hops": told["hops_p99_ms"] < HOPS_BAR,
    }
    rounded = {key: round(value, 3) if isinstance(value, float) else value for key, value in told.items()}
    return {**rounded, "bars": bars, "passed": all(bars.values())}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--child", nargs=2, type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        asyncio.run(child(*asked.child))
    told = measured(asked.records, asked.kills)
    sys.stdout.write(json.dumps(told) + os.linesep)
    raise SystemExit(0 if told["passed"] else 1)


if __name__ == "__main__":
    main()
