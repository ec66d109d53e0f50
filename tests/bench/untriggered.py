"""What refining adds to a streamed answer that needs none: from the request to [DONE], with it and without, in turn.

Two gateways with the rules as shipped; one has refine.yaml as shipped too, but for the classifier's threshold, which
nothing reaches. So every answer goes through all tiers and the classifier reads it, beginning while its last words are
still on their way. Both stand before the same endpoint, a process of its own that keeps its own time as an engine does:
piece after piece, and one step behind the last the end together with [DONE].
"""

from __future__ import annotations

import re
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import numpy as np
import orjson
import yaml
from rich.console import Console
from rich.progress import track

from tests.bench.houses import JSON, Backend, figures, furnished, scripted, shipped, streamed, total
from tests.commands import served

MATERIAL = Path(__file__).parent / "material"
NEVER = 0.999  # a probability that no answer here reaches
WARM = 1  # rounds that do not count

console = Console(highlight=False, stderr=True)


class Told(NamedTuple):
    """A question, what it is asked about, and the answer in pieces."""

    question: str
    document: str
    pieces: tuple[str, ...]

    @property
    def body(self) -> bytes:
        system = [{"role": "system", "content": self.document}] if self.document else []
        messages = [*system, {"role": "user", "content": self.question}]
        return orjson.dumps({"model": "m", "stream": True, "messages": messages})


class Lap(NamedTuple):
    """Milliseconds of one answer: all of it, and from the last piece before the end until [DONE]."""

    whole: float
    end: float


def material() -> list[Told]:
    """The long answers of both languages."""
    found = []
    for lang in ("zh", "en"):
        told = yaml.safe_load((MATERIAL / f"answers.{lang}.yaml").read_text(encoding="utf-8"))
        found += [Told(one["question"], one.get("document", ""), pieces(one["answer"])) for one in told["answers"]]
    return found


def pieces(answer: str) -> tuple[str, ...]:
    """About as an engine cuts them: words, numbers, two Chinese characters, marks."""
    return tuple(re.findall(r" ?[A-Za-z]+| ?\d[\d.,:]*(?<=\d)|[一-鿿]{1,2}|.", answer))


async def lap(http: aiohttp.ClientSession, url: str, body: bytes) -> Lap:
    """One streamed answer. SystemExit if it does not come to its end."""
    began = time.perf_counter()
    seen = b""
    spoke = began
    async with http.post(f"{url}/v1/chat/completions", data=body) as answer:
        async for chunk in answer.content.iter_any():
            seen += chunk
            if b'"finish_reason":"stop"' not in seen:
                spoke = time.perf_counter()
    done = time.perf_counter()
    if answer.status != 200 or not seen.endswith(b"data: [DONE]\n\n"):
        raise SystemExit(f"the gateway answered {answer.status} {seen[-300:]!r}")
    return Lap(1000 * (done - began), 1000 * (done - spoke))


class Pairs(NamedTuple):
    """Milliseconds that refining added, answer by answer."""

    whole: list[float]
    end: list[float]

    def figures(self) -> dict[str, Any]:
        """Medians and 99th percentiles."""
        return {
            "added_ms_no_trigger": _at(self.whole, 0.5),
            "added_ms_no_trigger_p99": _at(self.whole, 0.99),
            "added_end_ms_no_trigger": _at(self.end, 0.5),
            "added_end_ms_no_trigger_p99": _at(self.end, 0.99),
            "no_trigger_n": len(self.whole),
        }


def _at(values: list[float], share: float) -> float:
    return round(float(np.quantile(values, share)), 3)


async def measured(rounds: int = 8, delay: float = 0.015) -> dict[str, Any]:
    """The figures, with `delay` seconds between pieces; `no_trigger_classified` is the share the classifier read."""
    told = material()
    made = Pairs([], [])
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        answers: list[dict[str, Any]] = [
            {"when": one.question, "events": streamed(one.pieces), "delay": delay} for one in told
        ]
        answers.append({"text": "It is well."})  # to whoever asks how it is
        endpoint = await _started(stack, folder / "endpoint", scripted(folder / "endpoint", answers), None)
        backend = {"name": "endpoint", "type": "openai", "urls": [endpoint]}
        off = await _started(stack, folder / "off", backend, None)
        on = await _started(stack, folder / "on", backend, _untriggered())
        http = await stack.enter_async_context(aiohttp.ClientSession(headers=JSON))
        for number in track(range(-WARM, rounds), "  answers that need nothing", console=console, transient=True):
            for place, one in enumerate(told):
                order = (on, off) if (number + place) % 2 else (off, on)
                laps = {url: await lap(http, url, one.body) for url in order}
                if number >= 0:
                    made.whole.append(laps[on].whole - laps[off].whole)
                    made.end.append(laps[on].end - laps[off].end)
        counts = await figures(http, on)
    asked = (rounds + WARM) * len(told)
    passed = total(counts, "retrace_tier_decisions_total", 'tier="classifier"', 'decision="pass"')
    return made.figures() | {"no_trigger_classified": round(passed / asked, 4), "step_ms": 1000 * delay}


def _untriggered() -> dict[str, Any]:
    refine = shipped()
    for tier in refine["tiers"]:
        if tier["type"] == "classifier":
            tier["threshold"] = NEVER
    return refine


async def _started(stack: AsyncExitStack, folder: Path, backend: Backend, refine: dict[str, Any] | None) -> str:
    config = furnished(folder, [backend], refine)
    url, _ = await stack.enter_async_context(served("--config", str(config), "--port", "0"))
    return url
