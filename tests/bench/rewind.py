"""What it takes to repair a stream that breaks a rule, beside what else could be done; and what it costs all others.

    python -m tests.bench.rewind [--prompts 66] [--rounds 2] [--keep DIR] [--minutes 6] [--threads 1]

A real engine answers questions to a bank, a shop and a school, Chinese and English; 23 % of its drafts break a rule at
a random place (rewind_drafts.py). Each of those requests is served in three ways, paired, in rotating order:
rewind (the gateway), end check, abort (rewind_contenders.py). Then the time to first piece and what anchors hold back
(rewind_plain.py).

time_vs_*     seconds from request to accepted answer, ratio of each pair: median (p10, p90 beside it)
tokens_vs_*   completion tokens, as the engine counts them; likewise
accepted      share that ended within the budget without the word; accepted_* of the others
by_place      the same by the third of the draft in which the word stands
ttft_ratio_plain        first event, gateway over plain proxy; ttft_text_ratio_plain: first event with text
held_chars_*, held_ms_* what waits, and for how long

`--keep DIR` remembers what is done, so that the next call goes on; `--minutes` ends after so many. The last line is
JSON, of all that was measured so far; `left` is what was not.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import httpx
import yaml
from rich.console import Console

from deploy.setup.engine import Engine, ensure
from deploy.vllm.launch import Launch
from gateway.keys import hashed
from tests.bench import rewind_plain
from tests.bench.rewind_contenders import CONTENDERS, Places, counted, drafted
from tests.bench.rewind_drafts import Ask, Breach, Draft, asks, breaches, by_id
from tests.bench.rewind_kept import Kept
from tests.bench.rewind_plain import RULE, pair, plain_proxy
from tests.bench.rewind_scores import scores, table
from tests.commands import served

console = Console(highlight=False, stderr=True, width=140)

RULES = Path(__file__).parents[2] / "rules"
ANCHORS = {"word": "prose", "sentence": "prose", "json": "json", "json_word": "json"}  # and what they are meant for
STREAMS = 8  # requests of prose whose streams tell what is held back
PATIENCE = 20.0  # seconds until a gateway has found out what its backend can


class Clock:
    """When to stop."""

    def __init__(self, minutes: float) -> None:
        self._began, self._minutes = time.monotonic(), minutes

    @property
    def minutes(self) -> float:
        return (time.monotonic() - self._began) / 60

    @property
    def out(self) -> bool:
        return self.minutes >= self._minutes


@asynccontextmanager
async def gateway(engine: Engine, rules: Sequence[dict[str, Any]], tenants: Sequence[str] = ()) -> AsyncIterator[str]:
    """A gateway with the rules as shipped and these, a process of its own; each tenant's name is its key."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        keys = [{"hash": hashed(tenant), "tenant": tenant} for tenant in tenants]
        backend = {"name": "engine", "type": "vllm", "urls": [engine.url]}
        main = {"backends": [backend], "rules": ["input.yaml", "output.yaml", "more.yaml"], "tiers": "tiers.yaml"}
        files = {"gateway.yaml": main, "more.yaml": {"rules": [*rules]}, "tiers.yaml": {"keys": keys}}
        for file, told in files.items():
            (folder / file).write_text(yaml.safe_dump(told, allow_unicode=True), encoding="utf-8")
        for file in ("input.yaml", "output.yaml", "reasons.yaml"):
            (folder / file).write_text((RULES / file).read_text(encoding="utf-8"), encoding="utf-8")
        async with served("--config", str(folder / "gateway.yaml"), "--port", "0") as (url, _):
            await _knows(url)
            yield url


async def _knows(url: str) -> None:
    """Wait until the gateway has found out that its backend has the plugin."""
    async with asyncio.timeout(PATIENCE), httpx.AsyncClient(trust_env=False) as http:
        while not (await http.get(f"{url}/readyz")).json()["retrace"]["engine"]:  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.1)


async def warmed(places: Places, sample: Sequence[Ask], breach: Breach) -> None:
    """What only the first requests of an engine, a gateway, a connection pay for."""
    for ask in sample:
        for contender in CONTENDERS.values():
            await contender(places, ask._replace(messages=[{"role": "user", "content": ask.id}]), breach)


async def drafts(engine: Engine, wanted: Sequence[Ask], kept: Kept, clock: Clock) -> None:
    """What the engine says by itself, of those whose draft is not known: one after the other, since what is computed
    beside others may come out differently, and then a word is not where it was."""
    async with aiohttp.ClientSession() as http:
        for ask in wanted:
            if not clock.out and ask.id not in kept.drafts:
                kept.add_draft(await drafted(Places(http, engine.url), ask))


async def streams(engine: Engine, wanted: Sequence[Ask], kept: Kept, clock: Clock) -> None:
    """Streams with nothing beside them, for what anchors hold back."""
    async with aiohttp.ClientSession() as http:
        for ask in wanted:
            if not clock.out and ask.id not in kept.streams:
                kept.add_stream(await drafted(Places(http, engine.url), ask))


async def repairs(engine: Engine, told: Sequence[Breach], wanted: Sequence[Ask], kept: Kept, clock: Clock) -> None:
    """Every breach by all contenders, of those that have not been."""
    by = by_id(wanted)
    left = [(n, breach) for n, breach in enumerate(told) if breach.tenant not in kept.repaired]
    if not left or clock.out:
        return
    tenants = [breach.tenant for breach in told]
    async with gateway(engine, [b.ruled() for b in told], tenants) as url, aiohttp.ClientSession() as http:
        places = Places(http, engine.url, url)
        await warmed(places, wanted[:1], told[0])
        for number, breach in left:
            if clock.out:
                return
            names = list(CONTENDERS)
            order = names[number % 3 :] + names[: number % 3]
            ways = [await counted(CONTENDERS[name], places, by[breach.ask], breach) for name in order]
            kept.add_repair(ways)
            console.print(f"  {breach.tenant} {breach.word} at {breach.place:.2f}", *map(_brief, ways), sep="  ")


def _brief(told: Any) -> str:
    return f"{told.contender} {told.seconds:.1f} s {told.tokens:.0f} tokens{'' if told.accepted else ' not accepted'}"


async def firsts(engine: Engine, wanted: Sequence[Ask], kept: Kept, clock: Clock) -> None:
    """Times to first piece, `wanted` in all."""
    async with AsyncExitStack() as stack:
        proxy = stack.enter_context(plain_proxy(engine.url))
        url = await stack.enter_async_context(gateway(engine, [RULE]))
        http = await stack.enter_async_context(aiohttp.ClientSession())
        places = Places(http, engine.url, url)
        for number in range(-4, len(wanted)):
            if number < 0:
                await pair(places, proxy, wanted[0], 900000 + number)
            elif not clock.out and number >= len(kept.firsts):
                kept.add_first(await pair(places, proxy, wanted[number], number))


def held(drafts: Iterable[Draft], wanted: Sequence[Ask]) -> dict[str, float]:
    """What anchors hold back: of prose, and of JSON."""
    by = by_id(wanted)
    kinds: dict[str, list[Draft]] = {"prose": [], "json": []}
    for draft in drafts:
        kinds[by[draft.ask].kind].append(draft)
    return rewind_plain.held_by({name: kinds[kind] for name, kind in ANCHORS.items()})


async def measured(engine: Engine, options: argparse.Namespace, kept: Kept) -> dict[str, Any]:
    """All parts, as far as time allows; the figures of what was measured by now."""
    clock = Clock(options.minutes)
    prose, forms = asks(options.prompts), asks(kind="json")
    await drafts(engine, prose, kept, clock)
    known = [kept.drafts[ask.id] for ask in prose if ask.id in kept.drafts]
    told = breaches(known, options.rounds) if len(known) == len(prose) else []
    pairs, alone = prose * options.rounds, [*prose[:STREAMS], *forms]
    if told:
        await repairs(engine, told, prose, kept, clock)
        if not clock.out:
            await firsts(engine, pairs, kept, clock)
        await streams(engine, alone, kept, clock)
    console.print(table(told, kept))
    left = {
        "drafts": len(prose) - len(known),
        "repairs": sum(breach.tenant not in kept.repaired for breach in told),
        "firsts": len(pairs) - len(kept.firsts),
        "streams": len(alone) - len(kept.streams),
    }
    return scores(told, kept) | held(kept.streams.values(), alone) | {"left": left}


def main() -> None:
    """Measure, or go on measuring."""
    made = argparse.ArgumentParser(
        prog="python -m tests.bench.rewind", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--prompts", type=int, default=66, help="most is 66 (default: 66)")
    made.add_argument("--rounds", type=int, default=2, help="in each 23 %% of them break a rule (default: 2)")
    made.add_argument("--keep", type=Path, help="folder in which what is done is remembered")
    made.add_argument("--minutes", type=float, default=60, help="end after so many (default: 60)")
    made.add_argument("--threads", type=int, default=1, help="of the engine; the rest is left to all others")
    options = made.parse_args()
    engine = ensure(None, Launch(env={"OMP_NUM_THREADS": str(options.threads)}), replace=True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            out = asyncio.run(measured(engine, options, Kept(options.keep or Path(folder))))
    finally:
        if engine.started_by_us and not options.keep:
            engine.stop()
    print(json.dumps(out, ensure_ascii=False))


if __name__ == "__main__":
    main()
