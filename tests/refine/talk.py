"""How tests of refining talk to a gateway: questions and what came back, two tenants, readings that change."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import orjson
import yaml

from gateway.keys import hashed
from tests.refine.rigs import ALWAYS, is_reading
from tests.rig import Running, Script, Seen, payloads, said, serving, upstream, write_config

CACHE = {"near": False}  # what is the same, and nothing like it: no model has to be loaded
KEYS = {"keys": [{"hash": hashed(name), "tenant": name} for name in ("one", "two")]}


class Told(NamedTuple):
    """What a client got: the text it reads, the headers, the raw body."""

    text: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def outcome(self) -> str:
        return self.headers.get("x-retrace-refined", "")

    @property
    def entry(self) -> str:
        return self.headers.get("x-retrace-refine-entry", "")


def turns(*scripts: Script) -> Script:
    """The first request is answered by the first, and so on; the last one stays."""
    left = list(scripts)

    async def script(seen: Seen, writer: asyncio.StreamWriter) -> None:
        await (left.pop(0) if len(left) > 1 else left[0])(seen, writer)

    return script


def waits(go: asyncio.Event, script: Script) -> Script:
    """Answers once it may."""

    async def late(seen: Seen, writer: asyncio.StreamWriter) -> None:
        await go.wait()
        await script(seen, writer)

    return late


async def ask(
    running: Running, *messages: Any, who: str = "", headers: Mapping[str, str] | None = None, **fields: Any
) -> Told:
    """The answer to a chat; a text is what the user says."""
    given = messages or ("What is the rate?",)
    body = {"messages": [{"role": "user", "content": one} if isinstance(one, str) else one for one in given], **fields}
    sent = {**(headers or {}), **({"authorization": f"Bearer {who}"} if who else {})}
    async with await running.chat(headers=sent, **body) as response:
        raw = await response.read()
        told = {name.lower(): value for name, value in response.headers.items()}
    assert response.status == 200, raw
    if body.get("stream"):
        assert payloads(raw)[-1] == "[DONE]"
        return Told(said(raw.replace(b": keep-alive\n", b"")), told, raw)
    return Told(orjson.loads(raw)["choices"][0]["message"]["content"], told, raw)


async def wrong(running: Running, body: bytes | Mapping[str, Any], who: str = "") -> tuple[int, Any]:
    """What comes of saying that an entry of the cache was wrong."""
    raw = body if isinstance(body, bytes) else orjson.dumps(body)
    headers = {"authorization": f"Bearer {who}"} if who else {}
    async with running.http.post(f"{running.url}/retrace/v1/refine/wrong", data=raw, headers=headers) as response:
        return response.status, orjson.loads(await response.read())


@asynccontextmanager
async def tenants(
    folder: Path, script: Script, **file: Any
) -> AsyncIterator[tuple[Running, Callable[[], Sequence[Seen]]]]:
    """A gateway with two tenants, whose refine.yaml holds `file`; what it asked to be read once more."""
    told = {"tiers": [ALWAYS], "cache": CACHE, **file}
    (folder / "refine.yaml").write_text(yaml.safe_dump(told, allow_unicode=True), encoding="utf-8")
    (folder / "tiers.yaml").write_text(yaml.safe_dump(KEYS), encoding="utf-8")
    named = {"refine": "refine.yaml", "tiers": "tiers.yaml"}
    async with upstream(script) as (url, raw), serving(write_config(folder, [url], [], **named)) as running:
        yield running, lambda: [seen for seen in raw.calls if is_reading(seen)]


async def counted(running: Running, outcome: str, why: str) -> float:
    """How many answers came to this end."""
    return (await running.metrics()).get(f'retrace_refined_total{{outcome="{outcome}",why="{why}"}}', 0)
