"""The whole road: a draft is rejected, the engine is restarted, and a similar request gets its KV back."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from deploy.setup.engine import ensure
from tests.engines import Engines
from tests.rig import Running, gateway, regex

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
# R203, a factual error, is spliced; R101 gives its prefix back, and is kept from being said again.
RULES = [
    regex(r"\bSection\b", id="no.sections", reason="R203"),
    regex(r"包裹", id="no.parcels", reason="R101"),
]


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


@pytest.mark.parametrize(("manual", "provoking", "next_one"), [ENGLISH, CHINESE], ids=["en", "zh"])
@pytest.mark.parametrize("stream", [False, True], ids=["restart", "stream"])
async def test_a_rejected_draft_serves_the_next_request_over_an_engine_restart(
    engines: Engines, tmp_path: Path, manual: str, provoking: str, next_one: str, stream: bool
) -> None:
    if os.environ.get("RETRACE_ENGINE_URL"):
        pytest.skip("restarts the engine; RETRACE_ENGINE_URL is set")
    engine = engines.get()
    async with gateway(tmp_path, [engine.url], RULES, backend={"type": "vllm"}) as running:
        await asked(running, manual, provoking, stream)
        assert await figure(running, 'retrace_captures_total{reason="R', 1) == 1
        if not stream and manual is MANUAL:
            engine.stop()
            ensure(int(engine.url.rpartition(":")[2]))
        assert await asked(running, manual, next_one, stream) == 200
        assert await figure(running, "retrace_injected_tokens_total", 128) >= 512
