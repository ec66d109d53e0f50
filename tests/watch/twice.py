"""An engine with the plugin that says one thing with a donor and another without, and a case to repeat on it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import yaml

from gateway.backends import Donor
from gateway.types import Exchange, Principal
from gateway.watch.cases import Case
from tests.plugin import REPORT, Plugin, in_front
from tests.rig import DONE, RawUpstream, Running, Seen, chunk, delta, event, http, stream_head, upstream

LONG = "Goods may be sent back within fourteen days of delivery, unopened and with the receipt. " * 40
PROMPT = 1000  # tokens, as the engine counts them
OWN = "rt-own"


@dataclass
class Twin(Plugin):
    """Its plugin's half reports of each request what became of its donor."""

    says: str = "It can be sent back within 14 days."
    other: str = "It can be sent back within 14 days."  # with a donor
    injects: int = 900
    mode_of_it: str = "prefix"
    own: int | None = 0  # tokens of a prompt in its own cache; None: it does not say
    shows: bool = True  # log probabilities
    pause: float = 0.0  # before an answer without a donor begins
    status_of_it: int = 200
    torn: bool = False
    uses: dict[str, bool] = field(default_factory=dict)

    async def script(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        told = seen.json.get("kv_transfer_params", {}).get("retrace", {})
        uses = bool(told.get("donor"))
        self.uses[str(told.get("capture"))] = uses
        if self.status_of_it != 200 or (seen.json.get("logprobs") and not self.shows):
            writer.write(http(b'{"error": {"message": "no logprobs here"}}', max(self.status_of_it, 400)))
            return
        await asyncio.sleep(0 if uses else self.pause)
        text = self.other if uses else self.says
        writer.write(self._whole(text, uses) if not seen.json.get("stream") else self._streamed(text, uses))

    def _usage(self, uses: bool) -> dict[str, Any]:
        usage: dict[str, Any] = {"prompt_tokens": PROMPT, "completion_tokens": 8, "total_tokens": PROMPT + 8}
        if self.own is not None:
            loaded = self.injects if uses and self.mode_of_it == "prefix" else 0
            usage["prompt_tokens_details"] = {"cached_tokens": self.own + loaded}
        return usage

    def _whole(self, text: str, uses: bool) -> bytes:
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
        told = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        return http(orjson.dumps({**told, "usage": self._usage(uses)}))

    def _streamed(self, text: str, uses: bool) -> bytes:
        events = [delta("", role="assistant")]
        for word in text.split(" "):
            likely = [{"token": word, "logprob": -0.1}, {"token": "?", "logprob": -2.5}]
            told = {"content": [{"token": word, "logprob": -0.1, "top_logprobs": likely}]} if self.shows else None
            said = {"index": 0, "delta": {"content": word + " "}, "logprobs": told, "finish_reason": None}
            events.append(event([said]))
        if not self.torn:
            events += [delta(finish="stop"), event([], usage=self._usage(uses)), DONE]
        return stream_head() + b"".join(map(chunk, events)) + chunk(b"")

    async def speak(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        if self.uses.get(seen.path.rpartition("/")[2]):
            self.report = {**REPORT, "injected_tokens": self.injects, "mode": self.mode_of_it}
        else:
            self.report = dict(REPORT)
        await super().speak(seen, writer)


@asynccontextmanager
async def twin(
    folder: Path, watch: dict[str, Any] | None = None, **fields: Any
) -> AsyncIterator[tuple[Running, Twin, RawUpstream]]:
    """A gateway in front of such an engine, with `watch` as its watch.yaml."""
    engine = Twin(**fields)
    more: dict[str, Any] = {}
    if watch is not None:
        (folder / "watch.yaml").write_text(yaml.safe_dump(watch), encoding="utf-8")
        more = {"watch": "watch.yaml"}
    async with upstream(engine.script) as (url, up):
        up.plugin = engine.speak
        async with in_front(folder, [url], [], retrace={"capture": "all"}, **more) as running:
            yield running, engine, up


def case(url: str, mode: str = "prefix", own: int | None = 0, **body: Any) -> Case:
    """An exchange that the replica at `url` served from a donor."""
    asked = {"model": "m", "messages": [{"role": "user", "content": LONG}], **body}
    exchange = Exchange(OWN, "chat", "m", Principal("shop"), ())
    donor = Donor("d" * 32, url, mode, {"min_tokens": 64, "ban": False})
    return Case(1000.0, exchange, "up", asked, donor, "R101", mode, "now", PROMPT, own)
