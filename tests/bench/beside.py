"""What a slow input check costs that is asked beside the prefill, and how soon a reject ends the engine's work.

An endpoint that thinks for 300 ms before its first token, and a verification service that takes 150 ms, both behind
real sockets. Requests go in pairs through two gateways that differ in one rule, in turns which goes first; the ratio
is the median of the pairs. Then the service rejects: from its word until the endpoint sees its call end.

    .venv/bin/python -m tests.bench.beside [--pairs 40] [--rejects 40]

The last line is JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from tests.refine.rigs import after
from tests.rig import RawUpstream, Running, chat_stream, gateway, streams, upstream
from tests.verifier import FLAG, PASS, slow, verifier

PREFILL, CHECK = 0.3, 0.15  # seconds
ASKS = ("What is the annual rate?", "年利率是多少？")


class Pair(NamedTuple):
    """Seconds to the first byte of an answer, without the rule and with it."""

    without: float
    checked: float

    @property
    def ratio(self) -> float:
        return self.checked / self.without


async def first_byte(running: Running, text: str) -> float:
    """Seconds until an answer begins; it must be the one that was sent."""
    began = time.perf_counter()
    async with await running.chat(text, stream=True) as response:
        piece = await response.content.readany()
        took = time.perf_counter() - began
        assert response.status == 200
        assert b"five" in piece + await response.read()
    return took


async def pairs(plain: Running, checked: Running, count: int) -> list[Pair]:
    """Pairs of requests; the first of all warms up."""
    done = []
    for number in range(count + 1):
        text = ASKS[number % len(ASKS)]
        if number % 2:
            without, with_it = await first_byte(plain, text), await first_byte(checked, text)
        else:
            with_it, without = await first_byte(checked, text), await first_byte(plain, text)
        done.append(Pair(without, with_it))
        print(f"\rpair {number}/{count}", end="", file=sys.stderr)
    return done[1:]


async def rejected(running: Running, endpoint: RawUpstream, spoken: list[float]) -> float:
    """Seconds from the service's word until the endpoint sees that nobody wants its answer any more."""
    async with await running.chat(ASKS[len(spoken) % len(ASKS)], stream=True) as response:
        assert response.status == 400
        await response.read()
    await endpoint.calls[-1].closed.wait()
    return time.perf_counter() - spoken[-1]


async def measure(folder: Path, args: argparse.Namespace) -> dict[str, Any]:
    spoken: list[float] = []
    word = PASS

    def decide(_asked: Any) -> Any:
        spoken.append(time.perf_counter())
        return word

    endpoint = after(PREFILL, streams(chat_stream("five ", "percent")))
    homes = [folder / name for name in ("plain", "checked")]
    for home in homes:
        home.mkdir()
    async with (
        verifier(decide, CHECK) as (url, _),
        upstream(endpoint) as (there, seen),
        gateway(homes[0], [there]) as plain,
        gateway(homes[1], [there], [slow(url)]) as checked,
    ):
        both = await pairs(plain, checked, args.pairs)
        word = FLAG
        ends = [await rejected(checked, seen, spoken) for _ in range(args.rejects)]
    print(file=sys.stderr)
    ratios = sorted(pair.ratio for pair in both)
    return {
        "ttft_ratio_beside": round(statistics.median(ratios), 4),
        "ttft_ratio_worst": round(ratios[-1], 4),
        "ttft_ms": round(1000 * statistics.median(pair.without for pair in both), 1),
        "ttft_checked_ms": round(1000 * statistics.median(pair.checked for pair in both), 1),
        "aborted_within_ms": round(1000 * max(ends), 1),
        "aborted_median_ms": round(1000 * statistics.median(ends), 1),
        "prefill_ms": 1000 * PREFILL,
        "check_ms": 1000 * CHECK,
        "pairs": len(both),
        "rejects": len(ends),
    }


def main() -> None:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--rejects", type=int, default=40)
    args = parser.parse_args()
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(asyncio.run(measure(Path(folder), args))))


if __name__ == "__main__":
    main()
