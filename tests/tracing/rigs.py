"""What the tests of traces stand on: gateways that trace everything, and answers that are cut back or read again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.answering import says
from tests.dialects import SURFACES
from tests.refine.rigs import ALWAYS
from tests.rig import RawUpstream, Running, Script, Seen, gateway, regex, upstream
from tests.tracing.receiver import Receiver, receiver

BAD = says("这款", "产品", "保证", "稳赚", "不赔。", used=(7, 5))
GOOD = says("收益", "随市场", "而变。", used=(10, 3))
REWIND = regex("稳赚", action="rewind")
EVERYWHERE = [(surface, stream) for surface in SURFACES for stream in (True, False)]


async def rewound(seen: Seen, writer: asyncio.StreamWriter) -> None:
    """An upstream whose first answer breaks the rule, and whose next one goes on well."""
    await (GOOD if "bad_words" in seen.json else BAD)(seen, writer)


@asynccontextmanager
async def traced(
    folder: Path, script: Script, rules: list[dict[str, Any]] | None = None, **fields: Any
) -> AsyncIterator[tuple[Running, Receiver]]:
    """A gateway that traces everything."""
    async with (
        receiver() as gatherer,
        upstream(script) as (url, _),
        gateway(folder, [url], rules, tracing={"endpoint": gatherer.url}, **fields) as running,
    ):
        yield running, gatherer


@asynccontextmanager
async def reading(folder: Path, script: Script, gatherer: Receiver) -> AsyncIterator[tuple[Running, RawUpstream]]:
    """A gateway that has every answer read once more."""
    (folder / "refine.yaml").write_text(yaml.safe_dump({"tiers": [ALWAYS], "cache": None}), encoding="utf-8")
    async with (
        upstream(script) as (url, up),
        gateway(folder, [url], [], refine="refine.yaml", tracing={"endpoint": gatherer.url}) as running,
    ):
        yield running, up
