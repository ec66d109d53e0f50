"""A bad day, as a script: an endpoint that is sometimes wrong, slow or broken, and clients of all kinds who ask it."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal

import orjson

from gateway.checks import Check
from gateway.judge import Judge
from gateway.kv.stats import COUNTERS, GAUGES
from gateway.rules import Rule
from gateway.types import View
from tests.plugin import REPORT, Plugin
from tests.refine.rigs import ANSWER, RATE, is_reading, review
from tests.rig import Running, Seen, answers, chat_stream, completion, http, post, regex, streams, wire

PAPER = "A paper on settlement days that everybody asks about; 关于结算日的说明，人人都会问到。" * 30
RULES = [
    regex("bomb", side="input"),
    regex("private", action="mask", id="private"),
    regex("guaranteed", action="rewind", id="promise", rewind={"budget": 1}),
]
REFINE = {
    "tiers": [{"type": "business", "cases": [{"decision": "force", "why": "always"}]}],
    "guards": {"min_chars": 50, "seconds": 5, "concurrent": 64, "retry_seconds": 1},
    "cache": {"near": False, "most": 2},
    "queue": {"type": "file", "path": "review.jsonl", "most": 2},
    "backlog": {"load_below": 1, "pause_seconds": 0.02, "most": 2},
}
PAUSE = 0.3  # seconds between two rounds, in which the gateway is scraped and its backlog worked off
WORDS = {"mode": "prefix", "why": "refused", "reason": "no_match", "hook": "recorder", "state": "kept", "": ""}


class Failing(Check):
    """Fails at its word."""

    type: Literal["failing"] = "failing"

    def look(self, view: View) -> tuple[list[tuple[int, int]], int]:
        if "crash" in view.text:
            raise RuntimeError("the analyser answered 500")
        return [], len(view.text)


def put_failing(running: Running) -> None:
    """The house in force has one more rule, whose check fails at work; a reload takes it away again."""
    server = running.server
    if "analyser" in server.steward.house.rules:
        return
    shell = Rule.model_validate(regex("nothing", side="input", id="analyser", on_error="tag"))
    rules = [*server.steward.house.rules.values(), shell.model_copy(update={"check": Failing()})]
    judge = Judge(rules, server.metrics.guard_broken)
    server.steward.house = replace(server.steward.house, judge=judge, rules={rule.id: rule for rule in rules})


@dataclass
class Endpoint:
    """What stands behind the gateway, its figures included."""

    readable: bool = True  # it reads answers once more
    faulty: bool = True  # it hangs up on some, and every second reading fails
    gone: bool = False  # it hangs up on everybody
    looks: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    readings: Iterator[int] = field(default_factory=itertools.count)

    async def speak(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        """Answer anything, by what it asks."""
        if self.gone:
            writer.close()
        elif seen.path == "/metrics":
            writer.write(http(self._page(), headers={"content-type": "text/plain; version=0.0.4"}))
        elif is_reading(seen):
            good = self.readable and (next(self.readings) % 2 or not self.faulty)
            writer.write(http(review(RATE)) if good else http(b"{}", 500))
        else:
            await self._answer(seen, writer)

    async def _answer(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        asked = seen.json["messages"][-1]["content"]
        if "hangs up" in asked and self.faulty:
            writer.close()
        elif "takes long" in asked:
            await asyncio.Event().wait()
        elif "promise" in asked or "pays a" in asked:  # the second: it goes on with what was cut
            more = "guaranteed " if "twice" in str(seen.json["messages"]) or "promise" in asked else "fair "
            await streams(chat_stream("The fund is safe. It pays a ", more, "return of nine percent."))(seen, writer)
        elif seen.json.get("stream"):
            text = ANSWER if "rate" in asked else "One private word, and no more."
            await streams(chat_stream(*(text[at : at + 9] for at in range(0, len(text), 9))))(seen, writer)
        else:
            await answers(completion(ANSWER if "rate" in asked else "One word."))(seen, writer)

    def _page(self) -> bytes:
        """The figures of vLLM's plugin, as its prom.py names them; all that counts goes up with each look."""
        step = next(self.looks)
        lines = []
        for what, (label, _) in {**COUNTERS, **GAUGES}.items():
            name = f"retrace_kv_{what}_total" if what in COUNTERS else f"retrace_kv_{what}"
            more = f',{label}="{WORDS[label]}"' if label else ""
            lines.append(f'{name}{{engine="0",model_name="m"{more}}} {step}')
        return ("\n".join(lines) + "\n").encode()


class Day:
    """Clients who ask without a pause, until told to stop."""

    def __init__(self, running: Running, plugin: Plugin) -> None:
        self._running, self._plugin = running, plugin
        self._rounds = 0
        self._over = False

    def stop(self) -> None:
        self._over = True

    async def run(self) -> None:
        while not self._over:
            self._rounds += 1
            put_failing(self._running)
            injected = {**REPORT, "mode": "prefix", "injected_tokens": 400, "recomputed_tokens": 16}
            self._plugin.report = {**REPORT, "declined": "no_match"} if self._rounds % 4 else injected
            await asyncio.gather(*(self._ask(text, number % 2 == 0) for number, text in enumerate(self._texts())))
            await asyncio.sleep(PAUSE)

    def _texts(self) -> list[str]:
        """One round: of each kind enough for every share that an alert hangs on to be far beyond its limit.

        Rates that nobody asked for before are read anew; of those whose reading fails, more must wait at once than the
        backlog holds.
        """
        texts = ["hello", "a bomb", "a crash", "what rate?", "what rate?", "a promise, once"]
        texts += [f"which rate in year {self._rounds} of plan {plan}?" for plan in range(6)]
        return texts + ["a promise, twice"] * 4 + ["this takes long"] * 4 + ["hangs up"] * 3

    async def _ask(self, text: str, stream: bool) -> None:
        messages = [{"role": "system", "content": PAPER}, {"role": "user", "content": text}]
        body = {"model": "m", "messages": messages, "stream": stream or "promise" in text}
        if "takes long" in text:
            await self._leave(orjson.dumps(body))
            return
        async with self._running.http.post(f"{self._running.url}/v1/chat/completions", json=body) as response:
            await response.read()

    async def _leave(self, body: bytes) -> None:
        async with wire(self._running) as (_, writer):
            writer.write(post(body))
            await writer.drain()
            await asyncio.sleep(0.03)
