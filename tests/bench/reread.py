"""The second reading on the real engine: how much of its prompt is a cache hit, and how much longer an answer takes.

Realistic prompts, a document with a question about it, zh and en in turn, go through two gateways before the same
engine: one that has every answer read once more, by the engine that gave it, and one that refines nothing. Each gateway
has a salt of its own, so neither finds what the other has left in the engine's prefix cache; which comes first
alternates. What was cached the engine says itself (`usage.prompt_tokens_details`).
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
import orjson
from rich.console import Console

from deploy.setup.engine import Engine
from tests.bench import docs
from tests.bench.backref import documents
from tests.bench.client import Client, client
from tests.bench.houses import ALWAYS, JSON, figures, furnished, total
from tests.commands import served

console = Console(highlight=False, stderr=True)

LANGS: tuple[docs.Lang, ...] = ("zh", "en")
TOKENS = (600, 1200)  # of a document
ANSWER = 160  # most tokens of an answer
SECONDS = 60.0  # that a reading may take: a processor is slow
SYSTEM = {"zh": "请根据用户给出的文档回答。", "en": "Answer from the document that the user gives you."}
ORDER = {  # so that the answer is long and full of facts, as those are that are read once more
    "zh": "请围绕这个问题写一段两百字左右的说明，介绍文档中的背景，写出名称、数字和日期。",
    "en": "Write a paragraph of about 120 words on this question: the background in the document, with names, figures "
    "and dates.",
}


class Prompt(NamedTuple):
    """A document and a question about it."""

    lang: docs.Lang
    document: str
    question: str

    @property
    def body(self) -> bytes:
        said = [("system", SYSTEM[self.lang]), ("user", f"{self.document}\n\n{self.question}\n{ORDER[self.lang]}")]
        messages = [{"role": role, "content": content} for role, content in said]
        asked = {"model": "qwen", "messages": messages, "max_tokens": ANSWER, "temperature": 0, "stream": True}
        return orjson.dumps(asked)


class Read(NamedTuple):
    """An answer, plain and refined: seconds of each, and the tokens of the reading; none if it was not read."""

    lang: str
    plain: float
    refined: float
    prompt: int
    cached: int
    reply: int

    @property
    def ratio(self) -> float:
        return self.refined / self.plain


def prompts(engine: Client, data: Path, count: int) -> tuple[list[Prompt], str]:
    """So many, zh and en in turn, and whose documents they are: those of `data`, or this bench's own if it has none."""
    try:
        sources, whose = [_theirs(engine, data, lang) for lang in LANGS], "documents"
    except docs.NoData as missing:
        console.print(f"  [yellow]{missing}; so these are texts of our own[/]")
        sources, whose = [_own(lang) for lang in LANGS], "own"
    found = [next(sources[number % len(LANGS)], None) for number in range(count)]
    return [prompt for prompt in found if prompt is not None], whose


def _theirs(engine: Client, data: Path, lang: docs.Lang) -> Iterator[Prompt]:
    """Documents that people have asked about. NoData at once, not when the first is wanted."""
    found = docs.load(data, lang, human=True)
    return (
        Prompt(lang, doc.text, doc.questions[0])
        for doc in found
        if TOKENS[0] <= len(engine.tokenize(doc.text, special=False)) <= TOKENS[1]
    )


def _own(lang: docs.Lang) -> Iterator[Prompt]:
    """Two contracts or notices in a row, asked about the first."""
    found = documents(lang)
    for one, other in pairwise(found):
        yield Prompt(lang, f"{one.text(one.new)}\n\n{other.text(other.new)}", one.question)


async def seconds(http: aiohttp.ClientSession, url: str, prompt: Prompt) -> float:
    """From the request to [DONE]. SystemExit if the answer does not come to its end."""
    began = time.perf_counter()
    async with http.post(f"{url}/v1/chat/completions", data=prompt.body) as answer:
        body = await answer.read()
    took = time.perf_counter() - began
    if answer.status != 200 or not body.endswith(b"data: [DONE]\n\n"):
        raise SystemExit(f"the gateway answered {answer.status} {body[-300:]!r}")
    return took


async def measured(engine: Engine, data: Path, count: int = 20, skip: int = 0, **refine: Any) -> dict[str, Any]:
    """The figures over so many prompts, less the first `skip`; `refine`: more of refine.yaml."""
    with client(engine.url, engine.model) as asking:
        asked, whose = prompts(asking, data, skip + count)
        asked = asked[skip:]
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        http = await stack.enter_async_context(
            aiohttp.ClientSession(headers=JSON, timeout=aiohttp.ClientTimeout(total=600))
        )
        told = {"tiers": [ALWAYS], "cache": None, "delivery": "hold", "guards": {"seconds": SECONDS}, **refine}
        plain = await _gateway(stack, http, folder / "plain", engine, None)
        refining = await _gateway(stack, http, folder / "refining", engine, told)
        for url in (plain, refining):  # an engine's first requests pay for what the others do not
            await seconds(http, url, next(_own("en")))
        before = await figures(http, refining)
        read = [await _both(http, plain, refining, prompt, number % 2 == 0) for number, prompt in enumerate(asked)]
        after = await figures(http, refining)
    return {**counted(read), **outcomes(before, after), "refined_texts": whose}


async def _gateway(
    stack: AsyncExitStack, http: aiohttp.ClientSession, folder: Path, engine: Engine, refine: dict[str, Any] | None
) -> str:
    config = furnished(folder, [{"name": "local", "type": "vllm", "urls": [engine.url]}], refine)
    url, _ = await stack.enter_async_context(served("--config", str(config), "--port", "0"))
    await salted(http, url)
    return url


async def salted(http: aiohttp.ClientSession, url: str) -> None:
    """Wait until a gateway knows that the engine has the plugin, for then it salts. SystemExit if it has not."""
    for _ in range(200):
        async with http.get(f"{url}/readyz") as ready:
            if any((await ready.json())["retrace"].values()):
                return
        await asyncio.sleep(0.1)
    raise SystemExit("the gateway finds no plugin in the engine: start it as `make up` does")


async def _both(http: aiohttp.ClientSession, plain: str, refining: str, prompt: Prompt, plain_first: bool) -> Read:
    before = await figures(http, refining)
    took: dict[str, float] = {}
    for url in (plain, refining) if plain_first else (refining, plain):
        took[url] = await seconds(http, url, prompt)
    after = await figures(http, refining)
    tokens = [int(_more(before, after, kind)) for kind in ("prompt", "cached", "completion")]
    read = Read(prompt.lang, took[plain], took[refining], *tokens)
    console.print(
        f"  {read.lang} plain {read.plain:.2f} s, refined {read.refined:.2f} s ({read.ratio:.2f}); "
        f"{read.cached} of {read.prompt} cached, {read.reply} tokens of reply"
    )
    return read


def _more(before: Mapping[str, float], after: Mapping[str, float], kind: str) -> float:
    """Tokens of this kind that second readings took in between."""
    told = [total(page, "retrace_refine_tokens_total", f'kind="{kind}"') for page in (before, after)]
    return told[1] - told[0]


def counted(read: Sequence[Read]) -> dict[str, Any]:
    """Over the answers that were read once more."""
    those = [one for one in read if one.prompt]
    if not those:
        return {"cached_prefill": None, "refined_time_ratio": None, "refined_n": 0, "refined_asked": len(read)}
    langs = {one.lang: [other.ratio for other in those if other.lang == one.lang] for one in those}
    return {
        "cached_prefill": round(sum(one.cached for one in those) / sum(one.prompt for one in those), 4),
        "cached_prefill_p50": round(statistics.median(one.cached / one.prompt for one in those), 4),
        "refined_time_ratio": round(statistics.median(one.ratio for one in those), 3),
        "refined_time_ratio_quartiles": quartiles([one.ratio for one in those]),
        **{f"refined_time_ratio_{lang}": round(statistics.median(ratios), 3) for lang, ratios in sorted(langs.items())},
        "refined_n": len(those),
        "refined_asked": len(read),
        "refined_prompt_tokens_p50": statistics.median(one.prompt for one in those),
        "refined_reply_tokens_p50": statistics.median(one.reply for one in those),
        "plain_seconds_p50": round(statistics.median(one.plain for one in those), 2),
    }


def quartiles(values: Sequence[float]) -> list[float]:
    """Between which the middle half lies."""
    found = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else [*values, *values, *values]
    return [round(found[0], 3), round(found[2], 3)]


def outcomes(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, Any]:
    """What became of the answers, and of the corrections that were proposed."""
    told: dict[str, Counter[str]] = {"refined_outcomes": Counter(), "refined_corrections": Counter()}
    for name, label, figure in (
        ("retrace_refined_total", "outcome", "refined_outcomes"),
        ("retrace_corrections_total", "fate", "refined_corrections"),
    ):
        for metric, value in after.items():
            if metric.startswith(name) and (more := int(value - before.get(metric, 0.0))):
                told[figure][metric.partition(f'{label}="')[2].partition('"')[0]] += more
    return {figure: dict(counts) for figure, counts in told.items()}
