"""Cases on several choices in one answer."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tests.rig import CHAT, DONE, PROMPT, delta, gateway, payloads, regex, said, streams, text_delta, upstream


def interleaved(surface: str, count: int, seed: int) -> list[bytes]:
    """The words of `count` choices, in an order that only chance knows, each choice's own words in order."""
    make = delta if surface == "chat" else text_delta
    left = {
        index: [make(f"c{index}w{n} ", index) for n in range(20)] + [make("", index, "stop")] for index in range(count)
    }
    dice = random.Random(seed)
    events = []
    while left:
        index = dice.choice(sorted(left))
        events.append(left[index].pop(0))
        if not left[index]:
            del left[index]
    return [*events, DONE]


@pytest.mark.parametrize("count", [2, 3, 8])
@pytest.mark.parametrize("rules", ["none", "mask", "block"])
@pytest.mark.parametrize("surface", ["chat", "completions"])
async def test_C21_each_delta_keeps_its_index(tmp_path: Path, surface: str, rules: str, count: int) -> None:
    chosen = {"none": [], "mask": [regex(r"c1w7\b", action="mask")], "block": [regex(r"c1w7\b")]}[rules]
    path, body = ("/v1/chat/completions", CHAT) if surface == "chat" else ("/v1/completions", PROMPT)
    for seed in range(3):
        sent = interleaved(surface, count, seed)
        async with (
            upstream(streams([b"".join(sent[:9]), *sent[9:]])) as (url, _),
            gateway(tmp_path, [url], chosen) as running,
        ):
            got = await running.ask(path, {**body, "n": count, "stream": True})
        if rules == "none":
            assert got == b"".join(sent)
        for index in range(count):
            whole = "".join(f"c{index}w{n} " for n in range(20))
            if index == 1 and rules == "mask":
                whole = whole.replace("c1w7", "***")
            if index == 1 and rules == "block":
                whole = whole[: whole.index("c1w7")]
            assert words(surface, got, index) == whole
            ends = [c["finish_reason"] for p in payloads(got)[:-1] for c in p["choices"] if c["index"] == index]
            assert [end for end in ends if end] == ["content_filter" if index == 1 and rules == "block" else "stop"]


def words(surface: str, got: bytes, index: int) -> str:
    if surface == "chat":
        return said(got, index)
    parts: list[dict[str, Any]] = [choice for part in payloads(got)[:-1] for choice in part["choices"]]
    return "".join(choice["text"] for choice in parts if choice["index"] == index)
