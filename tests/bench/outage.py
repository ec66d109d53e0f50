"""The reader of second readings is killed under load, and comes back: what do the clients see of it?

A gateway answers from a script and has every answer read once more by another gateway, a process of its own. That is
killed (SIGKILL) in the middle of the load and started again later, on the same port. Answers are held and live,
streamed and whole, Chinese and English.
"""

from __future__ import annotations

import asyncio
import itertools
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import orjson
from rich.console import Console

from tests.bench.houses import ALWAYS, JSON, furnished, scripted, streamed, whole
from tests.commands import served
from tests.refine.rigs import ANSWER, RATE, ZH_ANSWER, ZH_RATE
from tests.rig import said

console = Console(highlight=False, stderr=True)

STEP = 0.1  # seconds before each piece of a streamed answer
STEPS = 12
TAGS = ("[needs human review]", "[需人工复核]")
KINDS = [(lang, form, model) for lang in ("zh", "en") for form in ("stream", "whole") for model in ("held", "live")]
PATIENCE = 60.0  # seconds that the load goes on, at most, until the first corrected answer


class Plan(NamedTuple):
    """Answers in all, at once, and after how many the reader is killed and started again."""

    requests: int = 200
    at_once: int = 16
    killed: int = 60
    back: int = 140


PLAN = Plan()


class Served(NamedTuple):
    """An answer as its client saw it. `began` and `ended` are the bench's seconds."""

    began: float
    ended: float
    good: bool
    text: str

    @property
    def tagged(self) -> bool:
        return any(tag in self.text for tag in TAGS)

    @property
    def corrected(self) -> bool:
        return any(rate["fixed"] in self.text for rate in (RATE, ZH_RATE))


class Load:
    """Clients that ask one thing after the other, until there were enough and `over` says so."""

    def __init__(self, http: aiohttp.ClientSession, url: str, plan: Plan) -> None:
        self._http, self._url, self._plan = http, url, plan
        self._numbers = itertools.count()
        self._news = asyncio.Condition()
        self.served: list[Served] = []
        self.over = False

    async def run(self) -> None:
        await asyncio.gather(*(self._client() for _ in range(self._plan.at_once)))

    async def _client(self) -> None:
        while not (self.over and len(self.served) >= self._plan.requests):
            one = await self._ask(*KINDS[next(self._numbers) % len(KINDS)])
            async with self._news:
                self.served.append(one)
                self._news.notify_all()

    async def until(self, count: int) -> None:
        """Wait for so many answers."""
        async with self._news:
            await self._news.wait_for(lambda: len(self.served) >= count)

    async def until_corrected(self, since: float) -> None:
        """Wait for a corrected answer that ended after `since`; TimeoutError if none comes."""
        async with asyncio.timeout(PATIENCE), self._news:
            await self._news.wait_for(lambda: any(one.corrected and one.ended > since for one in self.served))

    async def _ask(self, lang: str, form: str, model: str) -> Served:
        """What went wrong counts as an answer that is not good."""
        messages = [{"role": "user", "content": "这款存款的利率？" if lang == "zh" else "What is the rate?"}]
        body = {"model": model, "user": f"{lang}-{form}", "stream": form == "stream", "messages": messages}
        began = time.monotonic()
        try:
            async with self._http.post(f"{self._url}/v1/chat/completions", data=orjson.dumps(body)) as answer:
                raw, status = await answer.read(), answer.status
        except aiohttp.ClientError as fault:
            return Served(began, time.monotonic(), False, repr(fault))
        good, text = read(raw, status, form)
        return Served(began, time.monotonic(), good, text)


def read(raw: bytes, status: int, form: str) -> tuple[bool, str]:
    """Whether an answer is whole, and its text."""
    if status != 200:
        return False, raw.decode(errors="replace")
    if form == "stream":
        text = said(raw)
        return raw.endswith(b"data: [DONE]\n\n") and b'"error"' not in raw and _begins(text), text
    text = orjson.loads(raw)["choices"][0]["message"]["content"]
    return _begins(text), text


def _begins(text: str) -> bool:
    """Whether it is one of the answers, with whatever was put to it."""
    return text.startswith((ANSWER[:24], ZH_ANSWER[:8]))


def counted(answers: Sequence[Served], killed: float, back: float) -> dict[str, Any]:
    """The figures; `killed` and `back` are when the reader ended, and when it answered again."""
    down = [one for one in answers if one.began >= killed and one.ended <= back]
    after = [one.ended - back for one in answers if one.corrected and one.ended > back]
    return {
        "failed_when_down": sum(not one.good for one in answers),
        "tagged_when_down": round(statistics.fmean(one.tagged for one in down), 4) if down else None,
        "recovered_seconds": round(min(after), 2) if after else None,
        "down_n": len(down),
        "down_seconds": round(back - killed, 2),
        "down_requests": len(answers),
        "neither_corrected_nor_tagged": sum(one.good and not (one.corrected or one.tagged) for one in answers),
    }


async def measured(plan: Plan = PLAN) -> dict[str, Any]:
    """Kill the reader under load and start it again; the figures."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        reading = _reader(folder / "reader")
        url, reader = await stack.enter_async_context(served(*reading, "--port", "0", by_force=True))
        gateway, _ = await stack.enter_async_context(served(*_gateway(folder / "gateway", url), "--port", "0"))
        unbounded = aiohttp.TCPConnector(limit=0)
        http = await stack.enter_async_context(aiohttp.ClientSession(headers=JSON, connector=unbounded))
        load = Load(http, gateway, plan)
        running = asyncio.create_task(load.run())
        await load.until(plan.killed)
        reader.kill()
        await reader.wait()
        killed = time.monotonic()
        console.print(f"  {len(load.served)} answered; the reader (process {reader.pid}) is killed")
        await load.until(plan.back)
        port = url.rpartition(":")[2]
        await stack.enter_async_context(served(*reading, "--port", port))
        back = time.monotonic()
        console.print(f"  {len(load.served)} answered; the reader is back")
        try:
            await load.until_corrected(back)
        finally:
            load.over = True
            await running
    return counted(load.served, killed, back)


def _gateway(folder: Path, reader: str) -> tuple[str, str]:
    """Answers from a script, each read once more by `reader`."""
    answers: list[Mapping[str, Any]] = []
    for lang, text in (("zh", ZH_ANSWER), ("en", ANSWER)):
        size = -(-len(text) // STEPS)
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        answers.append({"when": f"{lang}-stream", "events": streamed(pieces), "delay": STEP})
        answers.append({"when": f"{lang}-whole", "text": text, "delay": STEP * STEPS})
    backends = [scripted(folder, answers), {"name": "reader", "type": "openai", "urls": [reader]}]
    routes = [{"when": {"model": "held"}, "delivery": "hold"}]
    refine = {"backend": "reader", "tiers": [ALWAYS], "cache": None, "routes": routes}
    return "--config", str(furnished(folder, backends, refine))


def _reader(folder: Path) -> tuple[str, str]:
    """Reads every answer, and finds what is wrong with it."""
    answers = [
        {"when": when, "body": whole(orjson.dumps({"corrections": [rate]}).decode())}
        for when, rate in (("百分之四点七五", ZH_RATE), ("", RATE))
    ]
    return "--config", str(furnished(folder, [scripted(folder, answers)]))
