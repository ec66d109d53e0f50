"""What retrace saves of a replayed traffic on a real engine, beside the same engine with its own prefix cache alone.

    python -m tests.bench.pressure [--data DIR] [--requests 200] [--blocks 72]

The replay (replay.py) is sent one request after the other: to the plain engine, and through the gateway to the engine
with the plugin, every exchange captured. Once with room for all KV, once with so little (--blocks of 128 tokens) that
the engine must forget what it has computed. Times to first token are paired, request by request.

computed   prompt tokens that were computed / those the plain engine computed
ttft       median and mean of the ratios; the last line is JSON
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import httpx
import numpy as np
from rich.console import Console
from rich.progress import track

from deploy.setup.engine import Engine, ensure
from deploy.vllm.launch import Launch
from gateway.keys import hashed
from tests.bench import docs
from tests.bench.replay import Ask, replay
from tests.e2e.test_retrace import found
from tests.rig import serving, write_config

console = Console(highlight=False)

RETRACE = {"capture": "all", "accepted": {"mode": "splice", "sensitive": "allow", "min_tokens": 128}}
ROOM = {"RETRACE_POOL_GIB": "2"}  # for all that the replay leaves behind
WORDS = 8  # tokens of an answer
FIGURE = re.compile(r"^(\w+)(?:\{[^}]*\})? ([0-9.e+-]+)$", re.MULTILINE)


class Pass(NamedTuple):
    """One run of the replay: seconds to each first token, prompt tokens, and those of them that were computed."""

    ttft: list[float]
    prompt: float
    computed: float


def figures(engine: Engine) -> dict[str, float]:
    """The engine's own counts, over all labels."""
    told: dict[str, float] = {}
    page = httpx.get(f"{engine.url}/metrics", trust_env=False).text.replace("vllm:", "vllm_")
    for name, value in FIGURE.findall(page):
        told[name] = told.get(name, 0.0) + float(value)
    return told


async def sent(url: str, asks: Sequence[Ask], title: str) -> list[float]:
    """Seconds from each request to the first piece of its answer."""
    took = []
    async with aiohttp.ClientSession() as http:
        for ask in track(asks, title, console=console, transient=True):
            body: dict[str, Any] = {"model": "qwen", "messages": ask.messages, "max_tokens": WORDS, "temperature": 0}
            headers = {"authorization": f"Bearer {ask.tenant}"}
            began = time.perf_counter()
            first = 0.0
            async with http.post(
                f"{url}/v1/chat/completions", json={**body, "stream": True}, headers=headers
            ) as answer:
                if answer.status != 200:
                    raise SystemExit(f"the answer was {answer.status}: {await answer.text()}")
                async for piece in answer.content.iter_any():
                    if b'"content"' in piece and not first:
                        first = time.perf_counter() - began
            took.append(first)
            await asyncio.sleep(0.1)  # so that its capture is known before the next one
    return took


async def run(asks: Sequence[Ask], blocks: int | None, retrace: bool) -> Pass:
    """The replay on an engine of its own."""
    flags = ("--num-gpu-blocks-override", str(blocks)) if blocks else ()
    engine = await asyncio.to_thread(
        ensure, None, Launch(plugin=retrace, flags=flags, env=ROOM if retrace else {}), replace=True
    )
    title = f"  {'retrace' if retrace else 'plain'}, {f'{blocks} blocks' if blocks else 'room'}"
    try:
        async with AsyncExitStack() as stack:
            url = engine.url
            if retrace:
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                url = await _gateway(stack, folder, engine, {ask.tenant for ask in asks})
            await sent(url, asks[:1], "  warming up")
            before = figures(engine)
            ttft = await sent(url, asks[1:], title)
        told = {name: value - before.get(name, 0.0) for name, value in figures(engine).items()}
    finally:
        engine.stop()
    prompt = told["vllm_prompt_tokens_total"]
    saved = told["vllm_prefix_cache_hits_total"] + told.get("retrace_kv_injected_tokens_total", 0.0)
    console.print(
        f"{title}: {prompt:.0f} prompt tokens, {saved:.0f} not computed, TTFT {statistics.median(ttft):.2f} s"
    )
    return Pass(ttft, prompt, prompt - saved)


async def _gateway(stack: AsyncExitStack, folder: Path, engine: Engine, tenants: set[str]) -> str:
    """A gateway that captures everything, with a key for each tenant."""
    keys = [{"hash": hashed(name), "tenant": name} for name in sorted(tenants)]
    (folder / "tiers.yaml").write_text(json.dumps({"keys": keys}), encoding="utf-8")
    config = write_config(folder, [engine.url], [], backend={"type": "vllm"}, retrace=RETRACE, tiers="tiers.yaml")
    running = await stack.enter_async_context(serving(config))
    await found(running)
    return running.url


def compared(plain: Pass, ours: Pass) -> dict[str, float]:
    """Ours over the plain engine's, request by request."""
    ratios = [one / other for one, other in zip(ours.ttft, plain.ttft, strict=True)]
    low, mid, high = np.percentile(ratios, [10, 50, 90])
    return {
        "computed_ratio": round(ours.computed / plain.computed, 4),
        "ttft_ratio_p10": round(float(low), 3),
        "ttft_ratio_p50": round(float(mid), 3),
        "ttft_ratio_p90": round(float(high), 3),
        "ttft_ratio_of_means": round(statistics.mean(ours.ttft) / statistics.mean(plain.ttft), 3),
        "plain_computed_of_prompt": round(plain.computed / plain.prompt, 4),
    }


def main() -> None:
    made = argparse.ArgumentParser(
        prog="python -m tests.bench.pressure", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--requests", type=int, default=200, help="of the replay (default: 200)")
    made.add_argument("--blocks", type=int, default=72, help="KV blocks of the small engine (default: 72)")
    docs.add_option(made)
    options = made.parse_args()
    began, out = time.monotonic(), dict[str, Any]()
    asks = list(replay(options.data, options.requests, tenants=8))
    for name, blocks in (("pressure", options.blocks), ("room", None)):
        plain, ours = (asyncio.run(run(asks, blocks, retrace)) for retrace in (False, True))
        out |= {f"{name}_{figure}": value for figure, value in compared(plain, ours).items()}
    print(json.dumps(out | {"requests": len(asks) - 1, "minutes": round((time.monotonic() - began) / 60, 1)}))


if __name__ == "__main__":
    try:
        main()
    except docs.NoData as missing:
        raise SystemExit(str(missing)) from None
