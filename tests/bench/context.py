"""Finding donors: how fast, how well, and what the gates let pass.

    python -m tests.bench.context [--data DIR] [--entries 10000,100000,1000000] [--requests 600] [--pairs]

speed     a request's body in, its donor out, among 10,000 to 1,000,000 captures in memory and in a real Redis; and
          the same with similarity codes (`coded`), which are off by default
recall    a replay of real documents and questions (replay.py), each request captured once it was looked up: reusable
          tokens of the chosen donor / of the best donor there is, by the engine's own plan; donors with fewer than 64
gates     pairs that differ in a number, a negation, an entity ..., and honest paraphrases (tests/gates/pairs): how many
          a similarity search takes for the same question, and how many of these the gates still let pass

What all of it gives on a real engine is told by tests.bench.pressure. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any

import uvloop
from rich.console import Console
from rich.table import Table
from tokenizers import Tokenizer

from deploy.vllm import model
from gateway.context import question, sketch
from gateway.donors import choose
from gateway.kv.nouns import Entry
from gateway.similar import Similar
from gateway.stores import Near, Store, StoreSpec
from gateway.stores.memory import Plug as Memory
from gateway.stores.redis import Plug as Redis
from gateway.stores.redis import Redis as RedisStore
from gateway.terms import Lookup
from tests.bench import docs, overlap, served
from tests.bench.lookup import SPLICE, body, crowd, kept, owner, timed
from tests.bench.replay import Ask, replay
from tests.redis_server import redis_server

console = Console(highlight=False)
LOOKUP = Lookup()


async def filled(store: Store, entries: int, asks: Iterable[Ask], similar: Similar) -> None:
    """A store with a crowd of captures, and those of the replay in the midst of them."""
    for number, one in enumerate(crowd(entries)):
        store.add(one)
        if number % 500 == 499:
            await told(store)
    for number, ask in enumerate(asks):
        asked = body(ask)
        made = sketch(owner(ask.tenant), asked, LOOKUP.chunk_bits)
        store.add(kept(f"own-{number}", made._replace(codes=similar.codes(question(asked)))))
        if number % 500 == 499:
            await told(store)
    await told(store)


async def told(store: Store) -> None:
    """Wait until a store has told its server all that it was told: else what is too much would be displaced."""
    if isinstance(store, RedisStore):
        await store._teller.flush(60)


async def speed(asks: list[Ask], entries: int, kind: str, similar: Similar) -> dict[str, float]:
    """Milliseconds a lookup, with so many captures in a store; `coded`: with similarity codes."""
    half = len(asks) // 2
    with ExitStack() as stack:
        most = entries + half
        if kind == "redis":
            server = stack.enter_context(redis_server())
            spec: StoreSpec = Redis(url=server.url, most=most, bytes=1 << 40, timeout_ms=1000)
        else:
            spec = Memory(most=most, bytes=1 << 40)
        store = spec.connect(lambda fault: console.print(f"  [red]store: {fault}[/]"))
        await store.start()
        await filled(store, entries, asks[:half], similar)
        for _ in range(2):  # the second time nothing is new to the processor
            told = await timed(store, asks[half:], lambda _: (), LOOKUP)
        coded = await timed(store, asks[half:], lambda asked: similar.codes(question(asked)), LOOKUP)
        told |= {f"coded_{name}": value for name, value in coded.items()}
        console.print(f"  {kind}, {entries} captures: {told}")
        await store.stop()
    return told


async def recall(asks: list[Ask], tokenizer: Tokenizer, similar: Similar | None) -> dict[str, Any]:
    """What the donors that are named give back, of what the best there are could have."""
    store = Memory(most=len(asks)).connect(lambda _kind: None)
    known: dict[bytes, dict[str, Entry]] = defaultdict(dict)
    rows: dict[str, list[tuple[int, int, int]]] = defaultdict(list)  # a kind: given, best, tokens of the prompt
    named = poor = across = 0
    for number, ask in enumerate(asks):
        asked, mine = body(ask), owner(ask.tenant)
        made = sketch(mine, asked, LOOKUP.chunk_bits)
        made = made._replace(codes=similar.codes(question(asked))) if similar else made
        prompt = overlap.tokens(tokenizer, ask)
        offer = choose(made, "", await store.find(made, Near()), lambda _: SPLICE, LOOKUP.bytes_per_token)
        best = max((overlap.given(prompt, capture) for capture in known[mine].values()), default=0)
        given = 0
        if offer:
            across += offer.kept.capture not in known[mine]
            given = overlap.given(prompt, known[mine][offer.kept.capture])
            named, poor = named + 1, poor + (given < 64)
        rows[ask.kind].append((given, best, len(prompt)))
        store.add(kept(str(number), made))
        known[mine][str(number)] = overlap.donor(str(number), prompt)
    total = [sum(row[part] for kind in rows.values() for row in kind) for part in range(3)]
    _print_recall(rows)
    return {
        "donor_token_recall": round(total[0] / total[1], 4),
        "reused_of_all_tokens": round(total[0] / total[2], 4),
        "named": named,
        "poor_donors": round(poor / max(named, 1), 4),
        "across_tenants": across,
    }


def _print_recall(rows: dict[str, list[tuple[int, int, int]]]) -> None:
    table = Table("kind", "requests", "tokens", "best donor", "chosen donor", "recall", box=None)
    for kind, row in sorted(rows.items()):
        given, best, size = (sum(part) for part in zip(*row, strict=True))
        recalled = f"{given / best:.3f}" if best else "-"
        table.add_row(kind, str(len(row)), str(size), f"{best / size:.3f}", f"{given / size:.3f}", recalled)
    console.print(table)


def main() -> None:
    made = argparse.ArgumentParser(
        prog="python -m tests.bench.context", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--entries", default="10000,100000,1000000", help="captures in memory, separated by commas")
    made.add_argument("--redis", default="10000,100000", help="captures in Redis, separated by commas")
    made.add_argument("--requests", type=int, default=600, help="of the replay (default: 600)")
    docs.add_option(made)
    options = made.parse_args()
    began, similar = time.monotonic(), Similar()
    asks = list(replay(options.data, options.requests))
    out: dict[str, Any] = {}
    for kind, counts in (("memory", options.entries), ("redis", options.redis)):
        for count in filter(None, counts.split(",")):
            told = uvloop.run(speed(asks, int(count), kind, similar))
            out |= {f"{kind}_{count}_{name}": value for name, value in told.items()}
    if "memory_100000_p99_ms" in out:
        out["lookup_p99_ms"] = out["memory_100000_p99_ms"]
    tokenizer = Tokenizer.from_file(str(model.MODELS["qwen"].folder / "tokenizer.json"))
    out |= uvloop.run(recall(asks, tokenizer, None))
    out["coded_donor_token_recall"] = uvloop.run(recall(asks, tokenizer, similar))["donor_token_recall"]
    out |= served.measured(options.data, console)
    print(json.dumps(out | {"minutes": round((time.monotonic() - began) / 60, 1)}))


if __name__ == "__main__":
    try:
        main()
    except docs.NoData as missing:
        raise SystemExit(str(missing)) from None
