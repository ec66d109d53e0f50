"""What refining looks like from outside, on the real engine, told as it happens.

    python -m tests.bench.refined

A customer asks about a document, and the model is kept from saying the right figure (`bad_words`), so it says another.
The same request goes through a gateway that refines nothing, one that holds the answer back, one that delivers it live,
and one whose reader is down; a person drains the review queue; and a question that sounds like one read before, but is
another, is read anew. The last line is JSON.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import orjson
import yaml
from rich.console import Console

from deploy.setup import ports
from deploy.setup.engine import Engine, ensure
from tests.bench.docs import Lang
from tests.bench.houses import ALWAYS, JSON, Backend, figures, furnished, scripted, total, whole
from tests.bench.reread import salted
from tests.commands import retrace, served
from tests.rig import said

MATERIAL = Path(__file__).parent / "material"
LANGS: tuple[Lang, ...] = ("zh", "en")
SECONDS = 60.0  # that a reading may take: a processor is slow
QUEUE = {"type": "file", "path": "review.jsonl"}

console = Console(highlight=False, width=120)


class Telling(NamedTuple):
    """A document, a question about it, what the model may `never` say, what it says instead, and what is right."""

    document: str
    question: str
    never: str
    wrong: str
    right: str

    @property
    def body(self) -> dict[str, Any]:
        """The chat request."""
        said = [("system", self.document), ("user", self.question)]
        messages = [{"role": role, "content": content} for role, content in said]
        return {"model": "qwen", "messages": messages, "temperature": 0, "max_tokens": 100, "bad_words": [self.never]}


def telling(lang: Lang) -> Telling:
    """The one of this language."""
    told = yaml.safe_load((MATERIAL / f"refine.{lang}.yaml").read_text(encoding="utf-8"))
    return Telling(**told)


def refining(**more: Any) -> dict[str, Any]:
    """A refine.yaml by which every answer is read once more, be it short, with time enough for a processor."""
    return {"tiers": [ALWAYS], "guards": {"seconds": SECONDS, "min_chars": 20}, "cache": None, **more}


class House(NamedTuple):
    """A running gateway, and how to ask it."""

    http: aiohttp.ClientSession
    url: str
    config: Path

    async def ask(self, body: Mapping[str, Any]) -> tuple[str, Mapping[str, str]]:
        """The text of the answer, and its headers."""
        async with self.http.post(f"{self.url}/v1/chat/completions", data=orjson.dumps(body)) as answer:
            raw = await answer.read()
        if answer.status != 200:
            raise SystemExit(f"the gateway answered {answer.status} {raw[:300]!r}")
        if body.get("stream"):
            return said(raw.replace(b": keep-alive\n", b"")), answer.headers
        return orjson.loads(raw)["choices"][0]["message"]["content"], answer.headers

    async def figures(self) -> dict[str, float]:
        return await figures(self.http, self.url)


class Story:
    """The transcript, and what came of each part."""

    def __init__(self, stack: AsyncExitStack, folder: Path, http: aiohttp.ClientSession, engine: Engine) -> None:
        self._stack, self._folder, self._http = stack, folder, http
        self._local: Backend = {"name": "local", "type": "vllm", "urls": [engine.url]}
        self.told: dict[str, Any] = {}

    async def _house(self, name: str, refine: dict[str, Any] | None, *backends: Backend) -> House:
        config = furnished(self._folder / name, backends or [self._local], refine)
        url, _ = await self._stack.enter_async_context(served("--config", str(config), "--port", "0"))
        if not backends:
            await salted(self._http, url)
        return House(self._http, url, config)

    async def corrections(self) -> None:
        """Plain, in hold, and live."""
        plain = await self._house("plain", None)
        hold, live = [await self._house(way, refining(delivery=way)) for way in ("hold", "live")]
        for lang in LANGS:
            one = telling(lang)
            _title(f"{one.question} (the document says {one.right})")
            answer, _ = await plain.ask(one.body)
            _say("  without refining", answer)
            held, headers = await hold.ask(one.body)
            _say(f"  delivery: hold, x-retrace-refined: {headers.get('x-retrace-refined')}", held)
            late, headers = await live.ask({**one.body, "stream": True})
            _say("  delivery: live", late)
            self.told[f"plain_{lang}_wrong"] = one.wrong in answer
            self.told[f"hold_{lang}_corrected"] = one.right in held.partition("\n\n")[0]
            self.told[f"live_{lang}_corrected"] = late.startswith(answer) and one.right in late[len(answer) :]
        told = await hold.figures()
        self.told["cached_tokens"] = int(total(told, "retrace_refine_tokens_total", 'kind="cached"'))

    async def down(self) -> None:
        """The reader is another endpoint, and nobody is there; then a person works off the queue."""
        gone = f"http://127.0.0.1:{ports.free()}"
        backends = (self._local, {"name": "reader", "type": "openai", "urls": [gone]})
        house = await self._house("down", refining(backend="reader", delivery="hold", queue=QUEUE), *backends)
        _title(f"the reader ({gone}) is down")
        tagged = 0
        for lang in LANGS:
            answer, headers = await house.ask(telling(lang).body)
            _say(f"  x-retrace-degraded: {headers.get('x-retrace-degraded')}", answer)
            tagged += "[需人工复核]" in answer or "[needs human review]" in answer
        self.told["tagged_when_down"] = tagged / len(LANGS)
        await asyncio.to_thread(self._drained, house.config)

    def _drained(self, config: Path) -> None:
        """The review queue, with the command that a person uses."""
        _title("the review queue")
        _command("list", config)
        taken = _command("take", config, "9", "--reviewer", "Li", "--json")
        for line in taken.splitlines():
            ticket = json.loads(line)["ticket"]
            _command("done", config, ticket, "--verdict", "wrong", "--note", "not what the document says")
        self.told["queue_left"] = 0 if "nothing waits" in _command("list", config) else None
        self.told["queue_drained"] = len(taken.splitlines())

    async def near(self) -> None:
        """Two questions that sound alike, with the same answer: the second is read anew, since a gate refuses."""
        _title("a near hit is refused")
        answer = "The rate on such a deposit is 4.75 percent a year, and the interest is paid out every March."
        fix = {"quote": "4.75 percent", "evidence": "the offer of June", "fixed": "5.75 percent"}
        script = [{"when": "corrections", "body": whole(orjson.dumps({"corrections": [fix]}).decode())}]
        backend = scripted(self._folder / "near", [*script, {"text": answer}])
        house = await self._house("near", refining(delivery="hold", cache={"radius": 7}), backend)
        for question in ("What is the rate on a three-year deposit?", "what is the rate on a three-year deposit"):
            await self._near(house, question)
        await self._near(house, "What is the rate on a five-year deposit?")
        told = await house.figures()
        for metric, value in sorted(told.items()):
            if metric.startswith("retrace_refine_cache_total"):
                console.print(f"  {metric} {value:g}", markup=False)
        self.told["near_refused"] = int(total(told, "retrace_refine_cache_total", "refused_"))

    async def _near(self, house: House, question: str) -> None:
        messages = [{"role": "user", "content": question}]
        _, headers = await house.ask({"model": "m", "messages": messages})
        console.print(f"> {question}")
        console.print(f"  x-retrace-refine-entry: {headers.get('x-retrace-refine-entry')}", markup=False)


def _title(words: str) -> None:
    console.print(f"\n[bold]{words}[/]")


def _say(who: str, words: str) -> None:
    console.print(who, style="dim", markup=False)
    console.print("    " + words.replace("\n", "\n    "), markup=False)


def _command(name: str, config: Path, *words: str) -> str:
    """`retrace review ...`; what it printed."""
    told = retrace("review", name, *words, "--config", str(config))
    console.print(f"$ retrace review {' '.join((name, *words))}", style="dim", markup=False)
    console.print(told.stdout.rstrip() or told.stderr.rstrip(), markup=False)
    return told.stdout


async def story(engine: Engine) -> dict[str, Any]:
    """All of it; what came of each part."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        http = await stack.enter_async_context(
            aiohttp.ClientSession(headers=JSON, timeout=aiohttp.ClientTimeout(total=600))
        )
        one = Story(stack, folder, http, engine)
        await one.corrections()
        await one.down()
        await one.near()
    return one.told


def main() -> None:
    engine = ensure(replace=True)
    try:
        told = asyncio.run(story(engine))
    finally:
        if engine.started_by_us:
            engine.stop()
    print(json.dumps(told))


if __name__ == "__main__":
    main()
