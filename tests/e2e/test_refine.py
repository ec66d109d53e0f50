"""Refining on the real engine, through the official client: a wrong figure is read once more, and put right.

The model is kept from saying the figure that stands in the document (`bad_words`), so it says another one. What a model
this small finds wrong is its own affair; on these two it is right.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import openai
import pytest
import yaml

from deploy.setup.engine import Engine
from tests.bench.docs import Lang
from tests.bench.houses import total
from tests.bench.refined import LANGS, Telling, refining, telling
from tests.e2e.test_retrace import found
from tests.rig import Running, serving, write_config

pytestmark = pytest.mark.engine

MARKS = {"zh": "【修正】", "en": "[corrected]"}
ERRATA = {"zh": "\n\n【更正】", "en": "\n\n[correction]"}
TAGS = {"zh": "[需人工复核]", "en": "[needs human review]"}


class House(NamedTuple):
    """A gateway that refines before the real engine, and a client of it."""

    running: Running
    client: openai.AsyncOpenAI

    async def ask(self, one: Telling, *, stream: bool, **fields: Any) -> tuple[str, dict[str, str]]:
        """The answer as a client reads it, and its headers."""
        body = {**one.body, **fields}
        extra = {"bad_words": body.pop("bad_words")}
        if not stream:
            raw = await self.client.chat.completions.with_raw_response.create(**body, extra_body=extra)
            return raw.parse().choices[0].message.content or "", dict(raw.headers)
        chunks = await self.client.chat.completions.create(**body, stream=True, extra_body=extra)
        return "".join([chunk.choices[0].delta.content or "" async for chunk in chunks if chunk.choices]), {}

    async def told(self, name: str, *labels: str) -> float:
        return total(await self.running.metrics(), name, *labels)


@asynccontextmanager
async def house(folder: Path, engine: Engine, **file: Any) -> AsyncIterator[House]:
    (folder / "refine.yaml").write_text(yaml.safe_dump(refining(**file)), encoding="utf-8")
    config = write_config(folder, [engine.url], [], backend={"type": "vllm"}, refine="refine.yaml")
    async with serving(config) as running:
        await found(running)
        async with openai.AsyncOpenAI(base_url=f"{running.url}/v1", api_key="none", timeout=300) as client:
            yield House(running, client)


async def plain(engine: Engine, one: Telling) -> str:
    """What the engine itself answers."""
    body = dict(one.body)
    extra = {"bad_words": body.pop("bad_words")}
    async with openai.AsyncOpenAI(base_url=f"{engine.url}/v1", api_key="none", timeout=300) as client:
        answer = await client.chat.completions.create(**body, extra_body=extra)
    return answer.choices[0].message.content or ""


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("lang", LANGS)
async def test_held_back_a_wrong_figure_is_put_right(engine: Engine, tmp_path: Path, lang: Lang, stream: bool) -> None:
    one = telling(lang)
    answer = await plain(engine, one)
    assert one.wrong in answer
    async with house(tmp_path, engine, delivery="hold") as ours:
        text, headers = await ours.ask(one, stream=stream)
        body, _, evidence = text.partition("\n\n")
        assert one.right in body
        assert one.wrong not in body
        assert MARKS[lang] in body
        assert one.wrong in evidence  # what was changed is told
        assert stream or headers["x-retrace-refined"] == "corrected"
        assert await ours.told("retrace_refined_total", 'outcome="corrected"') == 1


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("lang", LANGS)
async def test_live_an_erratum_follows_the_answer(engine: Engine, tmp_path: Path, lang: Lang, stream: bool) -> None:
    one = telling(lang)
    answer = await plain(engine, one)
    async with house(tmp_path, engine, delivery="live") as ours:
        text, _ = await ours.ask(one, stream=stream)
    assert text.startswith(answer + ERRATA[lang])
    assert one.right in text[len(answer) :]


async def test_a_reading_is_mostly_a_cache_hit_and_nobody_is_billed_for_it(engine: Engine, tmp_path: Path) -> None:
    one = telling("en")
    body = {**one.body, "stream_options": {"include_usage": True}}
    extra = {"bad_words": body.pop("bad_words")}
    async with house(tmp_path, engine) as ours:
        stream = await ours.client.chat.completions.create(**body, stream=True, extra_body=extra)
        (usage,) = [chunk.usage async for chunk in stream if chunk.usage]
        read = {kind: await ours.told("retrace_refine_tokens_total", f'kind="{kind}"') for kind in ("prompt", "cached")}
        billed = await ours.told("retrace_tokens_total", 'kind="prompt"')
    assert usage.prompt_tokens == billed
    assert billed < read["prompt"]
    assert 0 < read["cached"] <= read["prompt"]


@pytest.mark.parametrize("lang", LANGS)
async def test_an_answer_that_is_right_is_read_and_never_silently_changed(
    engine: Engine, tmp_path: Path, lang: Lang
) -> None:
    """A model this small may find fault with what is right. Then it says so, with what it takes for evidence."""
    one = telling(lang)
    async with house(tmp_path, engine, delivery="hold") as ours:
        text, headers = await ours.ask(one._replace(never="no such words"), stream=False)
        readings = await ours.told("retrace_refine_tokens_total", 'kind="prompt"')
    assert readings > 0
    assert headers["x-retrace-refined"] in ("fine", "kept", "corrected")
    assert (MARKS[lang] in text) is (headers["x-retrace-refined"] == "corrected")
    assert one.right in text


@pytest.mark.parametrize("form", ["json", "text"])
async def test_both_forms_of_a_reply_are_understood(engine: Engine, tmp_path: Path, form: str) -> None:
    async with house(tmp_path, engine, delivery="hold", form=form) as ours:
        _, headers = await ours.ask(telling("en"), stream=False)
    readable = headers["x-retrace-refined"] != "degraded"
    assert readable or (form == "text" and headers["x-retrace-degraded"] == "refine; unreadable")


@pytest.mark.parametrize("lang", LANGS)
async def test_without_time_for_a_reading_the_answer_goes_out_tagged(
    engine: Engine, tmp_path: Path, lang: Lang
) -> None:
    one = telling(lang)
    async with house(tmp_path, engine, delivery="hold", guards={"seconds": 0.05, "min_chars": 20}) as ours:
        text, headers = await ours.ask(one, stream=False)
    assert headers["x-retrace-degraded"] == "refine; slow"
    assert TAGS[lang] in text
    assert text.replace(f" {TAGS[lang]}", "").replace(TAGS[lang], "") == await plain(engine, one)
