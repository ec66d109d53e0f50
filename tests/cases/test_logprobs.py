"""Cases on log probabilities: they come through as they are, and spell nothing that a rule took out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.rig import CHAT, DONE, PROMPT, event, gateway, payloads, regex, streams, text_delta, upstream, usage_event

ASKED: dict[str, Any] = {"stream": True, "logprobs": True, "top_logprobs": 2, "stream_options": {"include_usage": True}}


def spoken(token: str) -> bytes:
    likely = {"token": token, "logprob": -0.25, "bytes": list(token.encode())}
    told = {
        "content": [{**likely, "top_logprobs": [likely, {"token": "?", "logprob": -9.5, "bytes": [63]}]}],
        "refusal": None,
    }
    choice = {"index": 0, "delta": {"content": token}, "logprobs": told, "finish_reason": None, "token_ids": [1]}
    return event([choice])


@pytest.mark.parametrize("rules", [[], [regex("never", action="mask")], [regex("never")]])
async def test_C20_logprobs_of_many_chunks_are_those_of_the_upstream(
    tmp_path: Path, rules: list[dict[str, Any]]
) -> None:
    events = [*(spoken(f"w{n}🙂 ") for n in range(300)), usage_event()]
    end = event([{"index": 0, "delta": {}, "logprobs": None, "finish_reason": "stop"}])
    sent = [*events[:-1], end, events[-1], DONE]
    async with upstream(streams(sent)) as (url, up), gateway(tmp_path, [url], rules) as running:
        assert await running.ask("/v1/chat/completions", {**CHAT, **ASKED}) == b"".join(sent)
        assert up.calls[-1].json["top_logprobs"] == 2


async def test_C20_logprobs_of_completions_too(tmp_path: Path) -> None:
    told = {"tokens": ["a "], "token_logprobs": [-1.0], "top_logprobs": [{"a ": -1.0}], "text_offset": [0]}
    sent = [*(text_delta("a ", logprobs=told) for _ in range(50)), text_delta(finish="stop"), DONE]
    rules = [regex("tokens|text_offset", action="mask")]  # names of fields are no texts of the answer
    async with upstream(streams(sent)) as (url, _), gateway(tmp_path, [url], rules) as running:
        assert await running.ask("/v1/completions", {**PROMPT, "stream": True, "logprobs": 1}) == b"".join(sent)


@pytest.mark.parametrize("action", ["mask", "block"])
async def test_C20_logprobs_do_not_spell_what_was_taken_out(tmp_path: Path, action: str) -> None:
    tokens_said = ("the ", "se", "cret", " is", " out ", "now ")
    sent = [*map(spoken, tokens_said), event([{"index": 0, "delta": {}, "finish_reason": "stop"}]), DONE]
    async with (
        upstream(streams(sent)) as (url, _),
        gateway(tmp_path, [url], [regex("secret", action=action)]) as running,
    ):
        got = await running.ask("/v1/chat/completions", {**CHAT, **ASKED})
    choices = [choice for part in payloads(got)[:-1] for choice in part["choices"]]
    tokens = [entry["token"] for choice in choices for entry in (choice.get("logprobs") or {}).get("content", ())]
    assert tokens[0] == "the "
    assert not {"se", "cret"} & set(tokens)
    assert str(list(b"cret"))[1:-1].encode() not in got
