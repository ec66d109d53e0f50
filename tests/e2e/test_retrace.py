"""The whole road: a draft is rejected, the engine is restarted, and a similar request gets its KV back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from deploy.setup.paths import ROOT
from tests.engines import Engines, skip_unless_ours
from tests.rig import Running, regex, serving, until, write_config

pytestmark = pytest.mark.engine

MANUAL = "\n".join(
    f"Section {number}. Parcels of class {number} are collected on weekday mornings from {number % 9 + 1} o'clock, "
    f"weighed at counter {number * 7 % 31}, and leave with the van of route {number * 13 % 57}. A parcel that is too "
    f"heavy for its class waits for the next day; its sender is told by telephone and pays nothing."
    for number in range(1, 16)
)
手册 = "\n".join(
    f"第{number}节 第{number}类包裹工作日上午{number % 9 + 1}点起收取，在{number * 7 % 31}号柜台称重，"
    f"由{number * 13 % 57}路货车运走。超过本类重量的包裹留到第二天，工作人员会打电话告诉寄件人，不另收费。"
    for number in range(1, 26)
)
# Whatever the model says is rejected, for reasons with two policies: to splice, and to give back no more than a prefix.
RULES = [
    regex(r"[A-Za-z]", id="no.english", reason="R203"),
    regex(r"[一-龥]", id="no.chinese", reason="R101"),
]


@asynccontextmanager
async def with_policies(folder: Path, url: str) -> AsyncIterator[Running]:
    """A gateway before the engine, with RULES and the policies of the reason codes as they are shipped."""
    config = write_config(folder, [url], RULES, backend={"type": "vllm"})
    (folder / "reasons.yaml").write_text((ROOT / "rules" / "reasons.yaml").read_text("utf-8"), "utf-8")
    async with serving(config) as running:
        await found(running)
        yield running


async def found(running: Running) -> None:
    """Wait until the gateway knows that the engine is up and has the plugin; it finds out by itself."""
    fleet = running.server._fleet
    await until(lambda: all((*fleet.health().values(), *fleet.patched().values())), 20)


async def asked(running: Running, system: str, question: str, stream: bool = False) -> int:
    """One chat request; its status."""
    messages = [{"role": "system", "content": system}, {"role": "user", "content": question}]
    fields: dict[str, Any] = {
        "model": "qwen",
        "messages": messages,
        "max_tokens": 24,
        "temperature": 0,
        "stream": stream,
    }
    async with await running.chat(**fields) as answer:
        await answer.read()
        return answer.status


async def figure(running: Running, name: str, least: float, seconds: float = 30) -> float:
    """A sum of the gateway's own figures, once it has come to `least`: verdicts are told after the client is served."""
    for _ in range(int(seconds * 10)):
        found = sum(value for metric, value in (await running.metrics()).items() if metric.startswith(name))
        if found >= least:
            break
        await asyncio.sleep(0.1)
    return found


ENGLISH = (MANUAL, "Repeat section 3 word by word, beginning with 'Section 3'.", "When does class 5 leave?")
CHINESE = (手册, "请逐字重复第三节，从“第3类包裹”开始。", "第5类几点起收？只回答时间。")


async def test_rejected_drafts_serve_the_next_requests_over_an_engine_restart(engines: Engines, tmp_path: Path) -> None:
    skip_unless_ours()
    engine = engines.get()
    async with with_policies(tmp_path, engine.url) as running:
        for (manual, provoking, _), stream in ((ENGLISH, False), (CHINESE, True)):
            await asked(running, manual, provoking, stream)
        assert await figure(running, "retrace_captures_total", 2) == 2
        await asyncio.to_thread(engines.restarted)
        await found(running)
        before = 0.0
        for (manual, _, next_one), stream in ((ENGLISH, True), (CHINESE, False)):
            assert await asked(running, manual, next_one, stream) == 200
            assert await figure(running, "retrace_injected_tokens_total", before + 512) >= before + 512
            before = await figure(running, "retrace_injected_tokens_total", 0)
