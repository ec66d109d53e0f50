"""Random chat streams: text, reasoning and calls in any order, and what a client should have made of each."""

from __future__ import annotations

import itertools
import json
from typing import Any, NamedTuple

from hypothesis import strategies as st

from tests.surfaces.clients import USED, call, chunk

WORDS = ("ok", " yes", "你好", "，世界", "🙂", '"quoted"\n', "\\back", " ")
ARGUMENTS: tuple[dict[str, Any], ...] = ({}, {"city": "上海"}, {"n": 3, "deep": [{"x": 'a"b\n'}]}, {"text": "🙂" * 5})


class Stream(NamedTuple):
    """The events of an answer; its texts in a row, each with its kind; its calls: id, name, arguments."""

    chunks: list[dict[str, Any]]
    runs: list[tuple[str, str]]
    calls: list[tuple[str, str, dict[str, Any]]]
    finish: str


@st.composite
def streams(draw: st.DrawFn) -> Stream:
    """Each call comes in parts, which may stand between parts of others, of text and of reasoning."""
    said = draw(st.lists(st.tuples(st.sampled_from(["text", "reasoning"]), st.sampled_from(WORDS)), max_size=8))
    given = draw(st.lists(st.sampled_from(ARGUMENTS), max_size=3))
    calls = [(f"call_{n}", f"tool_{n}", arguments) for n, arguments in enumerate(given)]
    lanes = [[_delta(kind, word) for kind, word in said]]
    lanes += [_parts(draw, n, *one) for n, one in enumerate(calls)]
    order = draw(st.permutations([n for n, lane in enumerate(lanes) for _ in lane]))
    lines = [iter(lane) for lane in lanes]
    finish = draw(st.sampled_from(["tool_calls", "stop"] if calls else ["stop", "length"]))
    chunks = [chunk(role="assistant", content=""), *(next(lines[n]) for n in order), chunk(finish), USED]
    runs = [
        (kind, "".join(word for _, word in group)) for kind, group in itertools.groupby(said, lambda piece: piece[0])
    ]
    return Stream(chunks, runs, calls, finish)


def _delta(kind: str, word: str) -> dict[str, Any]:
    return chunk(content=word) if kind == "text" else chunk(reasoning_content=word, reasoning=word)


def _parts(draw: st.DrawFn, index: int, mark: str, name: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    text = json.dumps(arguments, ensure_ascii=False)
    cut = draw(st.integers(0, len(text)))
    head = chunk(tool_calls=[call(index, "", name, mark)])
    return [head, *(chunk(tool_calls=[call(index, part)]) for part in (text[:cut], text[cut:]))]
