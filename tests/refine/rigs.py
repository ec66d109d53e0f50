"""What the tests of refining stand on: a gateway, an endpoint that answers, and one that reads answers once more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import yaml

from tests.rig import (
    Running,
    Script,
    Seen,
    answers,
    chat_stream,
    completion,
    http,
    serving,
    streams,
    upstream,
    write_config,
)

ANSWER = "The annual rate of this deposit is 4.75 percent. Interest is paid out every March."
RATE = {"quote": "4.75 percent", "evidence": "the offer of June", "fixed": "5.75 percent"}
ZH_ANSWER = (
    "这款定期存款的年利率是百分之四点七五，利息在每年三月一次性支付给客户，"
    "存期为三年，提前支取按活期计息，请以合同为准，并妥善保管存单。"
)
ZH_RATE = {"quote": "百分之四点七五", "evidence": "六月的产品说明书", "fixed": "百分之五点七五"}
ALWAYS = {"type": "business", "cases": [{"decision": "force", "why": "always"}]}
NEVER = {"type": "business", "cases": [{"decision": "skip", "why": "never"}]}


def review(*corrections: dict[str, str], **usage: Any) -> bytes:
    """The body of a second reading."""
    text = orjson.dumps({"corrections": list(corrections)}).decode()
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return orjson.dumps({"choices": [choice], "usage": {"prompt_tokens": 70, "completion_tokens": 9, **usage}})


def both(answer: Script, reading: Script) -> Script:
    """An endpoint that answers clients so, and second readings so."""

    async def script(seen: Seen, writer: asyncio.StreamWriter) -> None:
        await (reading if is_reading(seen) else answer)(seen, writer)

    return script


def is_reading(seen: Seen) -> bool:
    """Whether a request is a second reading: it is asked by a schema, or as marked lines."""
    return b"corrections" in seen.body or "【修正】".encode() in seen.body or b"[corrected]" in seen.body


def says(text: str, stream: bool) -> Script:
    """A script that answers with this text."""
    if not stream:
        return answers(completion(text))
    return streams(chat_stream(*(text[at : at + 7] for at in range(0, len(text), 7))))


def reads(*corrections: dict[str, str], **usage: Any) -> Script:
    return answers(review(*corrections, **usage))


def after(seconds: float, script: Script) -> Script:
    async def late(seen: Seen, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(seconds)
        await script(seen, writer)

    return late


def hangs() -> Script:
    async def script(_seen: Seen, _writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    return script


def broken(status: int = 500) -> Script:
    async def script(_seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(http(b"{}", status))

    return script


@asynccontextmanager
async def refining(
    folder: Path,
    script: Script,
    rules: list[dict[str, Any]] | None = None,
    main: dict[str, Any] | None = None,
    **file: Any,
) -> AsyncIterator[tuple[Running, Callable[[], list[Seen]]]]:
    """A gateway whose refine.yaml holds `file` (and gateway.yaml `main`); what it asked the endpoint to read again."""
    told = {"tiers": [ALWAYS], "cache": None, **file}
    (folder / "refine.yaml").write_text(yaml.safe_dump(told, allow_unicode=True), encoding="utf-8")
    async with upstream(script) as (url, raw):
        config = write_config(folder, [url], rules or [], refine="refine.yaml", **(main or {}))
        async with serving(config) as running:
            yield running, lambda: [seen for seen in raw.calls if is_reading(seen)]
