"""Cases on models that think aloud."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.rig import CHAT, DONE, answers, delta, event, gateway, payloads, regex, said, streams, upstream

THINKING = ("reasoning_content", "reasoning")
STREAM: dict[str, Any] = {**CHAT, "stream": True}


def thought(name: str, text: str) -> bytes:
    return event([{"index": 0, "delta": {name: text}, "finish_reason": None}])


def answer(name: str) -> list[bytes]:
    thoughts = [thought(name, text) for text in ("let me ", "see, the sec", "ret is 7")]
    return [delta("", role="assistant"), *thoughts, delta("It is "), delta("a secret"), delta(finish="stop"), DONE]


@pytest.mark.parametrize("name", THINKING)
@pytest.mark.parametrize("rules", ["none", "mask", "tag", "block elsewhere"])
async def test_C17_no_field_is_added_and_thoughts_stay_in_their_phase(tmp_path: Path, name: str, rules: str) -> None:
    chosen = {
        "none": [],
        "mask": [regex("secret", action="mask")],
        "tag": [regex("secret", action="tag")],
        "block elsewhere": [regex("never said")],
    }[rules]
    sent = answer(name)
    async with upstream(streams(sent)) as (url, _), gateway(tmp_path, [url], chosen) as running:
        got = await running.ask("/v1/chat/completions", STREAM)
    if rules == "mask":
        assert said(got, name=name) == "let me see, the *** is 7"
        assert said(got) == "It is a ***"
    else:
        assert got == b"".join(sent)
    before, after = payloads(b"".join(sent))[:-1], payloads(got)[:-1]
    assert len(before) == len(after)
    for theirs, ours in zip(before, after, strict=True):
        assert theirs.keys() == ours.keys()
        assert theirs["choices"][0].keys() == ours["choices"][0].keys()
        assert theirs["choices"][0]["delta"].keys() == ours["choices"][0]["delta"].keys()


@pytest.mark.parametrize("name", THINKING)
async def test_C17_thoughts_are_judged_by_themselves_and_by_role(tmp_path: Path, name: str) -> None:
    rules = [
        regex("secret", id="thoughts", action="mask", when={"role": "reasoning"}),
        regex("a secret", id="words", when={"role": "assistant"}),
    ]
    async with upstream(streams(answer(name))) as (url, _), gateway(tmp_path, [url], rules) as running:
        got = await running.ask("/v1/chat/completions", STREAM)
    assert said(got, name=name) == "let me see, the *** is 7"
    assert said(got) == "It is "
    assert payloads(got)[-2]["choices"][0]["finish_reason"] == "content_filter"


@pytest.mark.parametrize("name", THINKING)
async def test_C17_thoughts_in_an_answer_of_one_piece(tmp_path: Path, name: str) -> None:
    message = {"role": "assistant", "content": "It is a secret", name: "the secret is 7"}
    body = {"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    rules = [regex("secret", action="mask")]
    async with upstream(answers(orjson.dumps(body))) as (url, _), gateway(tmp_path, [url], rules) as running:
        got = orjson.loads(await running.ask("/v1/chat/completions", CHAT))
    assert got["choices"][0]["message"] == {"role": "assistant", "content": "It is a ***", name: "the *** is 7"}
