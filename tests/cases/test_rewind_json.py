"""Structured output that breaks a rule in the middle of a value stays valid JSON, however the network cut it.

The upstream computes what it goes on with from what it is sent, and from nothing else: it asks what kept text it has to
complete, and completes that. So a cut that left half an escape, half a number or an open quote would show.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest

from gateway.anchors.json import closing
from tests.rig import DONE, Script, Seen, chunk, delta, gateway, payloads, quiet, regex, said, stream_head, upstream

BAD, GOOD = ("guaranteed", "稳赚不赔"), "variable 浮动"
WORDS = [
    "the fund",
    "这款产品",
    'says "yes"',
    "a\\b",
    "line\nbreak",
    "🙂",
    "e\u0301",
    "{x: [1]}",
    "tab\t",
    "50%",
    "/",
    "",
]
KEYS = ["name", "产品", "notes", 're"turn', "items", "risk"]
ASKED: dict[str, Any] = {"stream": True, "response_format": {"type": "json_object"}}
CUTS = 200


def written(dice: random.Random) -> str:
    return " ".join(dice.choice(WORDS) for _ in range(dice.randint(1, 4)))


def value(dice: random.Random, depth: int = 0) -> Any:
    kind = dice.choice(["text", "text", "number", "word"] + (["list", "object"] if depth < 3 else []))
    if kind == "list":
        return [value(dice, depth + 1) for _ in range(dice.randint(0, 3))]
    if kind == "object":
        return {key: value(dice, depth + 1) for key in dice.sample(KEYS, dice.randint(0, 3))}
    made = {"text": written(dice), "number": dice.choice([0, -1.5, 12, 3e9]), "word": dice.choice([True, False, None])}
    return made[kind]


def answer(dice: random.Random) -> str:
    """An object with a place for what a rule may find, anywhere among its values."""
    whole = {key: value(dice) for key in dice.sample(KEYS, dice.randint(1, 4))}
    items = [*whole.items()]
    items.insert(dice.randint(0, len(items)), ("claim", f"{written(dice)} @@ {written(dice)}"))
    indent, separators = dice.choice([None, 2]), dice.choice([(", ", ": "), (",", ":")])
    return json.dumps(dict(items), ensure_ascii=False, indent=indent, separators=separators)


def torn(dice: random.Random, text: str) -> list[bytes]:
    """A stream that says this, its words in any events and its bytes in any pieces."""
    edges = sorted({0, len(text), *(dice.randrange(len(text)) for _ in range(dice.randint(0, 40)))} if text else {0})
    parts = [text[begin:end] for begin, end in itertools.pairwise(edges)]
    wire = b"".join([delta("", role="assistant"), *map(delta, parts), delta(finish="stop"), DONE])
    places = sorted({0, len(wire), *(dice.randrange(len(wire)) for _ in range(dice.randint(0, 12)))})
    return [wire[begin:end] for begin, end in itertools.pairwise(places)]


class Model:
    """Says a bad answer first; whenever it has to go on it looks at what it has said, and completes that."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        template = answer(self._dice)
        self.bad, self.fine = template.replace("@@", self._dice.choice(BAD)), template.replace("@@", GOOD)
        self.short = self._dice.random() < 0.5  # it completes what it has to, and says no more
        self.kept: list[str] = []

    @property
    def script(self) -> Script:
        async def says(seen: Seen, writer: asyncio.StreamWriter) -> None:
            writer.write(stream_head())
            for piece in torn(self._dice, self._answer(seen)):
                writer.write(chunk(piece))
                await writer.drain()
            writer.write(chunk(b""))

        return says

    def _answer(self, seen: Seen) -> str:
        if not seen.json.get("continue_final_message"):
            return self.bad
        self.kept.append(seen.json["messages"][-1]["content"])
        assert "response_format" not in seen.json
        assert self.fine.startswith(self.kept[-1])
        return closing(self.kept[-1]) if self.short else self.fine[len(self.kept[-1]) :]


@pytest.mark.parametrize(
    "anchors", [[{"type": "json"}], [{"type": "json", "mode": "word"}], [{"type": "json", "whole": True}]]
)
async def test_json_stays_valid_for_every_cut(tmp_path: Path, anchors: list[dict[str, Any]]) -> None:
    rule = regex("|".join(BAD), action="rewind", rewind={"anchors": anchors, "budget": 1})
    inside = 0
    async with upstream(Model(0).script) as (url, up), gateway(tmp_path, [url], [rule]) as running:
        for seed in range(CUTS):
            model = Model(seed)
            up.script = model.script
            async with await running.chat(**ASKED) as response:
                body = await response.read()
            read = said(body)
            whole = json.loads(read)
            assert not any(word in read for word in BAD), seed
            assert [c["finish_reason"] for d in payloads(body)[:-1] for c in d["choices"] if c["finish_reason"]] == [
                "stop"
            ]
            assert payloads(body)[-1] == "[DONE]"
            (stands,) = model.kept
            assert read.startswith(stands)
            assert model.short or whole == json.loads(model.fine)
            inside += len(stands) > 1
        await quiet(running)
        told = await running.metrics()
    assert told['retrace_rewinds_total{anchor="json",reason="R101"}'] == CUTS
    assert inside > CUTS * 0.6  # most were cut back to somewhere inside


async def test_what_was_cut_back_in_a_string_goes_on_in_that_string(tmp_path: Path) -> None:
    rule = regex("|".join(BAD), action="rewind", rewind={"anchors": [{"type": "json", "mode": "word"}]})
    first = ['{"claim": "it \\"pays\\" a guara', 'nteed \\u0041", "n": 1}']

    async def says(seen: Seen, writer: asyncio.StreamWriter) -> None:
        more = seen.json.get("continue_final_message")
        texts = [' \\"fair\\" return"', "}"] if more else first
        writer.write(stream_head() + b"".join(map(chunk, [*map(delta, texts), delta(finish="stop"), DONE, b""])))

    async with (
        upstream(says) as (url, up),
        gateway(tmp_path, [url], [rule]) as running,
        await running.chat(**ASKED) as response,
    ):
        body = await response.read()
    assert up.calls[1].json["messages"][-1]["content"] == '{"claim": "it \\"pays\\" a'
    assert json.loads(said(body)) == {"claim": 'it "pays" a "fair" return'}
