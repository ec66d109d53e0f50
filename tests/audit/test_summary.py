"""An exchange in a few sentences, and the call that repeats it."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest

from gateway.audit._index import Place
from gateway.audit._texts import CHINESE, ENGLISH
from gateway.audit.search import Hop
from gateway.audit.summary import command, sentences
from tests.audit.logs import exchange, reuse
from tests.audit.stories import BUSY


def hop(tmp: Any, deep: int, **fields: Any) -> Hop:
    return Hop(deep, {**reuse(1, donor=0), **fields}, None, Place(tmp, 0))


def finding(action: str, side: str = "output", reason: str = "R101") -> dict[str, Any]:
    return {"rule": "r", "reason": reason, "action": action, "side": side, "start": 0, "end": 1}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, ["No rule had anything against the request or the answer."]),
        ({"verdict": "tag", "findings": [finding("tag")]}, ["Rules took note of something and changed nothing."]),
        ({"verdict": "mask"}, ["Parts of the text were masked on their way."]),
        (
            {"verdict": "block", "findings": [finding("block", "input")], "status": 400},
            ["The request was blocked and reached no model, because of R101."],
        ),
        (
            {"verdict": "block", "findings": [finding("block"), finding("block", reason="R205")]},
            ["The answer was ended before its first wrong word left, because of R101, R205."],
        ),
        (
            {"refined": {"0": {"outcome": "degraded", "why": "slow", "corrections": 0, "usage": None}}},
            [
                "No rule had anything against the request or the answer.",
                "It should have been read once more and could not be (slow); it went out marked for a person.",
            ],
        ),
        (
            {"status": 499},
            ["No rule had anything against the request or the answer.", "The client left before the end."],
        ),
        (
            {"status": 502},
            ["No rule had anything against the request or the answer.", "It ended with an error (HTTP status 502)."],
        ),
    ],
)
def test_what_happened_is_said(fields: dict[str, Any], said: list[str]) -> None:
    assert sentences(exchange(1, **fields), [], ENGLISH) == said


def test_an_answer_in_which_much_happened_is_told_in_order() -> None:
    hops = [hop(None, 0), hop(None, 1, injected=999)]
    told = sentences(exchange(1, **BUSY), hops, ENGLISH)
    assert told == [
        "The answer was cut back 2 times and went on from there, because of R205.",
        "A second reading found errors and corrected them, each with evidence: 1.",
        "The engine reused 256 tokens of an earlier exchange of the same tenant.",
    ]
    chinese = sentences(exchange(1, **BUSY), hops, CHINESE)
    assert chinese[0] == "回答回退 2 次并从该处继续，原因：R205。"


@pytest.mark.parametrize(
    ("surface", "path", "field"),
    [
        ("chat", "/v1/chat/completions", "messages"),
        ("completions", "/v1/completions", "prompt"),
        ("responses", "/v1/responses", "input"),
        ("messages", "/v1/messages", "messages"),
    ],
)
def test_a_call_that_asks_the_same_again_is_one_that_a_shell_takes(surface: str, path: str, field: str) -> None:
    asked = [{"role": "user", "text": 'it\'s a "quote"\n$HOME `x`'}]
    _, address, *words = shlex.split(command(exchange(1, surface=surface, asked=asked)))
    assert address.endswith(path)
    assert "x-retrace-explain: 1" in words
    body = json.loads(words[-1])
    assert (body["model"], body["temperature"], body["seed"], body["stream"]) == ("m", 0.2, 7, True)
    assert asked[0]["text"] in (body[field] if field == "prompt" else body[field][0]["content"])


def test_a_call_whose_words_are_not_kept_says_so() -> None:
    hashed = exchange(1, asked=[{"role": "user", "text": {"hmac": "ab", "chars": 3}}])
    for line in (exchange(1), hashed):
        assert "…" in command(line)
