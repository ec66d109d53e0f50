"""A gateway whose rule cuts an answer back, and an endpoint whose streams break it and go on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.rig import (
    DONE,
    RawUpstream,
    Running,
    Script,
    Seen,
    chunk,
    delta,
    gateway,
    regex,
    stream_head,
    upstream,
    usage_event,
)

BAD = ["The fund ", "is safe and ", "pays a guaranteed ", "return of nine ", "percent."]
CONTINUED = [" return that ", "depends on the market."]
WHOLE = "The fund is safe and pays a return that depends on the market."


def guaranteed(**rewind: Any) -> dict[str, Any]:
    return regex("guaranteed|稳赚", action="rewind", **({"rewind": rewind} if rewind else {}))


def is_more(seen: Seen) -> bool:
    """Whether a call goes on with an answer."""
    return seen.json.get("continue_final_message") is True or seen.json["messages"][-1]["role"] == "assistant"


def kept(seen: Seen) -> str:
    return str(seen.json["messages"][-1]["content"])


def events(texts: Sequence[str], name: str = "chatcmpl-1", prompt: int = 7) -> list[bytes]:
    made = [delta("", role="assistant"), *map(delta, texts), delta(finish="stop"), usage_event(prompt, len(texts))]
    return [piece.replace(b"chatcmpl-1", name.encode()) for piece in (*made, DONE)]


def in_turn(*turns: Sequence[bytes], pause: float = 0.0, more: Callable[[Seen], bytes] | None = None) -> Script:
    """Each call gets the next of these streams; the last one is for all further ones."""
    left = list(turns)

    async def script(seen: Seen, writer: asyncio.StreamWriter) -> None:
        refusal = more(seen) if more is not None else b""
        if refusal:
            writer.write(refusal)
            return
        pieces = left.pop(0) if len(left) > 1 else left[0]
        writer.write(stream_head())
        for piece in pieces:
            writer.write(chunk(piece))
            await writer.drain()
            await asyncio.sleep(pause)
        writer.write(chunk(b""))

    return script


async def stream(running: Running, **fields: Any) -> bytes:
    async with await running.chat(stream=True, **fields) as response:
        assert response.status == 200
        return await response.read()


RULES = [guaranteed()]


@asynccontextmanager
async def served(
    folder: Path, script: Script, rules: list[dict[str, Any]]
) -> AsyncIterator[tuple[Running, RawUpstream]]:
    """A gateway with these rules, and what it asks of an endpoint that follows the script."""
    async with upstream(script) as (url, up), gateway(folder, [url], rules) as running:
        yield running, up
