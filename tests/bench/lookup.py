"""How long it takes to hash a request and find its donor, among so many captures: in this process, or in Redis."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gateway.context import sketch, whose
from gateway.donors import choose
from gateway.rules import Inject
from gateway.stores import WIDTH, Kept, Sketch, Store
from gateway.terms import Lookup
from tests.bench.replay import Ask

SPLICE = Inject(mode="splice", sensitive="allow")
CROWD = 500  # tenants that share a store
CHUNKS = 18  # of a prompt of about 1,000 tokens
FOREVER = 4e9


def owner(tenant: str) -> bytes:
    return whose(f"salt of {tenant}", "m")


def crowd(count: int, seed: int = 3) -> Iterator[Kept]:
    """So many captures of many tenants, of nobody's text."""
    rng = np.random.default_rng(seed)
    owners = [owner(f"crowd-{number}") for number in range(CROWD)]
    for number in range(count):
        hashes = rng.bytes(2 * CHUNKS * WIDTH)
        codes = tuple(int(code) for code in rng.integers(0, 1 << 63, 2))
        made = Sketch(
            owners[number % CROWD], hashes[: CHUNKS * WIDTH], hashes[CHUNKS * WIDTH :], (230,) * CHUNKS, codes
        )
        yield Kept(f"crowd-{number}", "http://a", "R203", "", FOREVER, made)


def kept(name: str, made: Sketch) -> Kept:
    return Kept(name, "http://a", "R203", "", FOREVER, made)


def body(ask: Ask) -> Mapping[str, Any]:
    return {"model": "m", "messages": ask.messages}


async def timed(store: Store, asks: Sequence[Ask], codes: Any, lookup: Lookup) -> dict[str, float]:
    """Milliseconds from a request's body to its donor, all of it; and how many had one."""
    took: list[float] = []
    found = 0
    for ask in asks:
        asked, mine = body(ask), owner(ask.tenant)
        await asyncio.sleep(0)
        began = time.perf_counter()
        made = sketch(mine, asked, lookup.chunk_bits)._replace(codes=codes(asked))
        candidates = await store.find(made)
        offer = choose(made, "", candidates, lambda _: SPLICE, lookup.bytes_per_token)
        took.append(1000 * (time.perf_counter() - began))
        found += offer is not None
    p50, p99 = np.percentile(took, [50, 99])
    return {"p50_ms": round(float(p50), 3), "p99_ms": round(float(p99), 3), "found": round(found / len(asks), 3)}
