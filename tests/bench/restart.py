"""One story on the real engine, told as it happens: a draft is rejected, the engine is restarted, the work comes back.

    python -m tests.bench.restart

A request with a long manual is answered, its answer breaks a rule and is cut off; the engine is stopped and started
anew; a request of the same tenant that begins alike arrives. Its time to first token stands beside that of the same
request from a stranger, whom the capture must not serve. The last line is JSON.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console

from deploy.setup import process
from deploy.setup.engine import NAME, Engine, ensure
from tests.bench.client import client
from tests.e2e.test_retrace import CHINESE, figure, found, with_policies
from tests.rig import Running

console = Console(highlight=False)


async def first_token(running: Running, system: str, question: str) -> tuple[float, bytes]:
    """Seconds until the first piece of a streamed answer, and all of it."""
    messages = [{"role": "system", "content": system}, {"role": "user", "content": question}]
    fields: dict[str, Any] = {"model": "qwen", "messages": messages, "max_tokens": 16, "temperature": 0}
    began = time.perf_counter()
    seconds = 0.0
    body = b""
    async with await running.chat(**fields, stream=True) as answer:
        async for chunk in answer.content.iter_any():
            seconds = seconds or time.perf_counter() - began
            body += chunk
    return seconds, body


async def story(engine: Engine, folder: Path) -> dict[str, Any]:
    manual, provoking, next_one = CHINESE
    async with with_policies(folder, engine.url) as running:
        cold, body = await first_token(running, manual, provoking)
        console.print(f"> {len(manual)} characters of manual, then: {provoking}")
        console.print(f"< first token after {cold:.2f} s; content_filter: {b'content_filter' in body}")
        await figure(running, "retrace_captures_total", 1)
        service = process.find(NAME)
        assert service is not None
        console.print(f"  verdict: kept. Stopping the engine (process {service.pid}) and starting another")
        await asyncio.to_thread(process.stop, service)
        again = await asyncio.to_thread(ensure, service.port)
        await found(running)
        await first_token(running, "hello", "hello")  # the first request of an engine pays for what the others do not
        await figure(running, "retrace_captures_total", 2)
        warm, _ = await first_token(running, manual, next_one)
        injected = await figure(running, "retrace_injected_tokens_total", 1)
        console.print(f"> the same manual, then: {next_one}")
        console.print(f"< first token after {warm:.2f} s; injected_tokens: {injected:.0f}")
    with client(again.url, "qwen") as stranger:
        prompt = stranger.chat(("system", manual), ("user", next_one))
        told = stranger.ask(prompt, salt="a stranger")
    console.print(f"  the same prompt from a stranger, in full: {told.seconds:.2f} s")
    return {
        "injected_tokens": int(injected),
        "prompt_tokens": len(prompt),
        "ttft_injected": round(warm, 3),
        "ttft_cold": round(told.seconds, 3),
        "ratio": round(warm / told.seconds, 4),
    }


def main() -> None:
    engine = ensure(replace=True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            out = asyncio.run(story(engine, Path(folder)))
    finally:
        running = process.find(NAME)
        if running is not None:
            process.stop(running)
    print(json.dumps(out))


if __name__ == "__main__":
    main()
