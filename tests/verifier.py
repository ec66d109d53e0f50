"""A team's own verification service: a real HTTP server that answers as it is told, and rules that ask it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import orjson

from tests.rig import RawUpstream, Script, Seen, answers, rule, upstream

PASS: dict[str, Any] = {"verdict": "pass"}
FLAG: dict[str, Any] = {"verdict": "flag"}

Decide = Callable[[Mapping[str, Any]], Mapping[str, Any]]


def flags(*words: str) -> Decide:
    """Flags the first place of each of these words."""

    def decide(asked: Mapping[str, Any]) -> Mapping[str, Any]:
        spans = [(at, at + len(word)) for word in words if (at := asked["text"].find(word)) >= 0]
        return {"verdict": "flag", "spans": spans} if spans else PASS

    return decide


def verdicts(decide: Decide, delay: float = 0.0) -> Script:
    async def script(seen: Seen, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(delay)
        await answers(orjson.dumps(decide(seen.json)))(seen, writer)

    return script


@asynccontextmanager
async def verifier(decide: Decide, delay: float = 0.0) -> AsyncIterator[tuple[str, RawUpstream]]:
    """A service that decides so after `delay` seconds: its address, and what it was asked."""
    async with upstream(verdicts(decide, delay)) as (url, asked):
        yield f"{url}/verify", asked


def slow(
    url: str, action: str = "block", side: str = "input", of: Mapping[str, Any] | None = None, **fields: Any
) -> Any:
    """A rule that asks the service; `of` are more fields of its check."""
    return rule({"type": "external", "url": url, **(of or {})}, action, side, **fields)
