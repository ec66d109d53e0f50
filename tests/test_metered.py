"""Tokens followed: where a finding stands, and what is asked for. How it looks to clients: cases/test_entropy.py."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from gateway import metered
from gateway.metered import Gauge, Metering
from gateway.plug import plugs
from gateway.rules import Rule
from gateway.surfaces import Token
from gateway.surfaces.sse import Frame
from gateway.types import Finding
from gateway.waiting import Channel, Mark
from tests.rig import rule

CHAT, TEXT = plugs("surfaces")["chat"](), plugs("surfaces")["completions"]()
RULE = Rule.model_validate(rule({"type": "entropy", "window": 16}, "block", id="lost"))
CALM = [Token("好", 0.1)] * 12


def marked(text: str, start: int = 0) -> Mark:
    channel = Channel(0, "content", ())
    return Mark(channel, channel.window, start, start + len(text), text)


def noted(gauge: Gauge, tokens: list[Token], mark: Mark) -> list[Finding]:
    gauge.judge({0: tokens}, [mark])
    window: Any = mark.window
    found: list[Finding] = list(window._pending)
    return found


def gauge() -> Gauge:
    return Gauge(CHAT, Metering((RULE,), True))


def test_a_finding_stands_at_its_token() -> None:
    tokens = [*CALM, Token("九九", 9.0), Token("厘", 0.1)]
    text = "".join(token.text for token in tokens)
    (found,) = noted(gauge(), tokens, marked(text, 100))
    assert (found.start, found.end, found.text, found.rule) == (112, 114, "九九", "lost")


def test_or_at_the_whole_text_if_tokens_and_text_do_not_agree() -> None:
    tokens = [*CALM, Token("\ufffd", 9.0), *CALM, Token("\ufffd", 19.0)]
    (found,) = noted(gauge(), tokens, marked("好🙂", 5))
    assert (found.start, found.end, found.text) == (5, 7, "好🙂")


def test_what_comes_in_several_events_is_one_series_and_forgotten_where_it_goes_on() -> None:
    one = gauge()
    assert noted(one, CALM, marked("好" * 12)) == []
    assert len(noted(one, [Token("啊", 9.0)], marked("啊", 12))) == 1
    one.forget(0)
    assert noted(one, [Token("啊", 9.0)], marked("啊", 0)) == []


def test_thoughts_are_not_followed() -> None:
    one, channel = gauge(), Channel(0, "reasoning_content", ())
    assert noted(one, [*CALM, Token("啊", 9.0)], Mark(channel, channel.window, 0, 13, "好" * 12 + "啊")) == []


def test_tokens_are_taken_out_only_for_whom_they_are_not_meant() -> None:
    for strips in (True, False):
        choice: dict[str, Any] = {"index": 0, "logprobs": {"content": [{"token": "a", "logprob": -1.5}]}}
        frame = Frame(b"raw", b"raw")
        tokens, left = Gauge(CHAT, Metering((RULE,), strips)).take(
            {"choices": [choice]}, frame, lambda _: Frame(b"", b"")
        )
        assert tokens == {0: [Token("a", 1.5)]}
        assert (choice["logprobs"] is None) is strips
        assert (left is frame) is not strips


def test_without_rules_nothing_is_looked_at() -> None:
    frame = Frame(b"", b"")
    idle = Gauge(CHAT, None)
    assert idle.take({"choices": 7}, frame, lambda _: frame) == ({}, frame)
    assert not idle.needs_all


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"content": None},
        {"content": 5},
        {"content": [7, {"token": 1, "logprob": -1}, {"token": "a"}]},
        {"tokens": ["a"]},
    ],
)
def test_what_an_endpoint_tells_badly_is_no_token(told: dict[str, Any]) -> None:
    assert CHAT.tokens({"choices": [{"index": 0, "logprobs": told}]}, False) == {0: []}


@pytest.mark.parametrize(
    ("surface", "body", "sent"),
    [
        (CHAT, {}, {"logprobs": True}),
        (CHAT, {"logprobs": False}, {"logprobs": True}),
        (CHAT, {"logprobs": True, "top_logprobs": 2}, None),
        (TEXT, {}, {"logprobs": 0}),
        (TEXT, {"logprobs": 0}, None),
        (TEXT, {"logprobs": 3}, None),
    ],
)
def test_what_is_asked_for(surface: Any, body: dict[str, Any], sent: dict[str, Any] | None) -> None:
    broken: list[str] = []
    metering, asked = metered.asked(surface, [RULE], body, broken.append)
    assert metering == Metering([RULE], sent is not None, broken.append)
    assert asked == (body if sent is None else sent)
    assert metered.asked(surface, [], body, broken.append) == (None, body)


@pytest.mark.parametrize("fields", [{"side": "input"}, {"action": "mask"}])
def test_tokens_are_an_answers_and_cannot_be_masked(fields: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="the model's own tokens"):
        Rule.model_validate({**rule({"type": "entropy"}, "tag"), **fields})
