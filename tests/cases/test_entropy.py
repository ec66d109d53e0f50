"""Cases on rules that follow how sure the model was: what is asked for them, found, done, and shown to nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.dialects import SURFACES, before
from tests.rig import (
    CHAT,
    DONE,
    PROMPT,
    Script,
    Seen,
    answers,
    completion,
    delta,
    event,
    gateway,
    payloads,
    quiet,
    rule,
    said,
    streams,
    text_delta,
    upstream,
    usage_event,
)

SURE, LOST = -0.05, -8.0
EN = [
    "The ",
    "rate ",
    "of ",
    "this ",
    "deposit ",
    "is ",
    "as ",
    "you ",
    "may ",
    "know. ",
    "It ",
    "is ",
    "99 ",
    "percent.",
]
ZH = ["这", "款", "存", "款", "的", "年", "利", "率", "如", "下", "。", "为", "九九", "厘。"]
TOLD = pytest.mark.parametrize("words", [EN, ZH], ids=["en", "zh"])
TAGS = rule({"type": "entropy", "window": 16}, "tag", id="lost")


def chances(words: Sequence[str]) -> list[float]:
    return [LOST if word in ("99 ", "九九") else SURE for word in words]


def spelt(word: str, chance: float, index: int = 0) -> bytes:
    """A chat chunk of one token, with its log probability."""
    told = {"content": [{"token": word, "logprob": chance, "bytes": list(word.encode()), "top_logprobs": []}]}
    return event([{"index": index, "delta": {"content": word}, "logprobs": told, "finish_reason": None}])


def chat(words: Sequence[str]) -> list[bytes]:
    return [
        *(spelt(*one) for one in zip(words, chances(words), strict=True)),
        delta(finish="stop"),
        usage_event(),
        DONE,
    ]


def plain(words: Sequence[str]) -> list[bytes]:
    events = []
    for word, chance in zip(words, chances(words), strict=True):
        told = {"tokens": [word], "token_logprobs": [chance], "top_logprobs": None, "text_offset": [0]}
        events.append(text_delta(word, logprobs=told))
    return [*events, text_delta(finish="stop"), usage_event(), DONE]


def whole(words: Sequence[str], is_chat: bool) -> bytes:
    data = orjson.loads(completion("".join(words)))
    (choice,) = data["choices"]
    if is_chat:
        listed = [
            {"token": w, "logprob": c, "bytes": [], "top_logprobs": []}
            for w, c in zip(words, chances(words), strict=True)
        ]
        choice["logprobs"] = {"content": listed, "refusal": None}
    else:
        choice["text"] = choice.pop("message")["content"]
        choice["logprobs"] = {"tokens": list(words), "token_logprobs": chances(words)}
    return orjson.dumps(data)


def model(words: Sequence[str]) -> Script:
    """It spells what it says if it is asked to, as engines do."""

    async def script(seen: Seen, writer: asyncio.StreamWriter) -> None:
        is_chat = "chat" in seen.path
        assert seen.json["logprobs"] is (True if is_chat else 0) or seen.json["logprobs"] in (True, 1)
        if seen.json.get("stream"):
            await streams(chat(words) if is_chat else plain(words))(seen, writer)
        else:
            await answers(whole(words, is_chat))(seen, writer)

    return script


@TOLD
@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize("surface", SURFACES)
async def test_a_jump_is_found_and_nobody_sees_how(
    tmp_path: Path, surface: str, stream: bool, words: list[str]
) -> None:
    async with before(tmp_path, model(words), [TAGS]) as (sdks, _):
        told = await sdks.ask(surface, stream)
        assert told.text == "".join(words)
        assert told.used == (7, 5)
        counted = await sdks.running.metrics()
        assert counted['retrace_verdicts_total{action="tag",reason="R101",rule="lost",side="output"}'] == 1
        if not stream:
            assert (sdks.head["x-retrace-verdict"], sdks.head["x-retrace-reason"]) == ("tag", "R101")
        if surface in ("chat", "completions"):
            paths = {"chat": ("/v1/chat/completions", CHAT), "completions": ("/v1/completions", PROMPT)}
            path, body = paths[surface]
            got = await sdks.running.ask(path, {**body, "stream": stream})
            assert b"token" not in got.replace(b"_tokens", b"")
            assert str(LOST).encode() not in got


@pytest.mark.parametrize("stream", [True, False])
async def test_a_client_that_asked_for_them_has_them_as_they_came(tmp_path: Path, stream: bool) -> None:
    async with upstream(model(EN)) as (url, up), gateway(tmp_path, [url], [TAGS]) as running:
        asked = {**CHAT, "stream": stream, "logprobs": True, "stream_options": {"include_usage": True}}
        got = await running.ask("/v1/chat/completions", asked)
        assert got == (b"".join(chat(EN)) if stream else whole(EN, True))
        got = await running.ask("/v1/completions", {**PROMPT, "logprobs": 1})
        assert got == whole(EN, False)
        assert up.calls[-1].json["logprobs"] == 1


async def test_without_such_a_rule_nothing_is_asked_for(tmp_path: Path) -> None:
    elsewhere = {**TAGS, "when": {"model": "other"}}
    async with upstream(streams(chat(EN))) as (url, up), gateway(tmp_path, [url], [elsewhere]) as running:
        got = await running.ask(
            "/v1/chat/completions", {**CHAT, "stream": True, "stream_options": {"include_usage": True}}
        )
    assert got == b"".join(chat(EN))
    assert "logprobs" not in up.calls[0].json


@pytest.mark.parametrize("on_error", ["block", "tag", "allow"])
@pytest.mark.parametrize("refuses", [False, True])
async def test_of_an_endpoint_that_does_not_tell_them_the_rule_is_broken(
    tmp_path: Path, on_error: str, refuses: bool
) -> None:
    events = [*(delta(word) for word in EN), delta(finish="stop"), DONE]

    async def script(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if refuses and "logprobs" in seen.json:
            await answers(b'{"error": {"message": "logprobs is not supported"}}', 400)(seen, writer)
        else:
            await streams(events)(seen, writer)

    rules = [{**TAGS, "on_error": on_error}]
    async with upstream(script) as (url, up), gateway(tmp_path, [url], rules) as running:
        for _ in range(2):
            body = await running.ask("/v1/chat/completions", {**CHAT, "stream": True})
            assert said(body) == ("" if on_error == "block" else "".join(EN))
        assert (await running.metrics())['retrace_guard_broken_total{rule="lost"}'] == 2
        await quiet(running)
    assert ["logprobs" in call.json for call in up.calls] == ([True, False, False] if refuses else [True, True])


@TOLD
async def test_the_verdict_does_not_depend_on_how_the_stream_was_cut(tmp_path: Path, words: list[str]) -> None:
    blocks = [{**TAGS, "action": "block"}]
    told = set()
    for pieces in (chat(words), [b"".join(chat(words))]):
        async with upstream(streams(pieces, 0.001)) as (url, _), gateway(tmp_path, [url], blocks) as running:
            told.add(said(await running.ask("/v1/chat/completions", {**CHAT, "stream": True})))
            await quiet(running)
    assert told == {"".join(words[: chances(words).index(LOST)])}


@TOLD
async def test_the_answer_goes_on_from_before_the_jump(tmp_path: Path, words: list[str]) -> None:
    better = [" It ", "is ", "5 ", "percent."] if words is EN else ["为", "五", "厘。"]
    rewinds = {**TAGS, "action": "rewind", "rewind": {"anchors": [{"type": "sentence"}]}}
    calls: list[Any] = []

    async def script(seen: Seen, writer: asyncio.StreamWriter) -> None:
        calls.append(seen.json)
        await streams(chat(words) if len(calls) == 1 else chat(better))(seen, writer)

    async with upstream(script) as (url, _), gateway(tmp_path, [url], [rewinds]) as running:
        body = await running.ask("/v1/chat/completions", {**CHAT, "stream": True})
        await quiet(running)
    kept = "".join(words[:10] if words is EN else words[:11]).rstrip()
    assert said(body) == kept + "".join(better)
    assert calls[1]["messages"][-1] == {"role": "assistant", "content": kept}
    assert calls[1]["logprobs"] is True
    spelled = [choice["logprobs"] for part in payloads(body)[:-1] for choice in part["choices"]]
    assert spelled
    assert not any(spelled)


async def test_each_choice_is_followed_by_itself(tmp_path: Path) -> None:
    events = []
    for n, word in enumerate(EN):
        events += [spelt(word, SURE, 0), spelt(word, LOST if n == 12 else SURE, 1)]
    ends = [delta(finish="stop", index=n) for n in (0, 1)]
    script = streams([*events, *ends, DONE])
    async with upstream(script) as (url, _), gateway(tmp_path, [url], [{**TAGS, "action": "block"}]) as running:
        body = await running.ask("/v1/chat/completions", {**CHAT, "stream": True, "n": 2})
    assert (said(body, 0), said(body, 1)) == ("".join(EN), "".join(EN[:12]))
