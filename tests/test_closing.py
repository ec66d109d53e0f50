"""An answer is held, heard, and released. How that looks to clients stands in cases/test_slow_checks.py."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import orjson
import pytest

from gateway.closing import Closing
from gateway.jury import Jury
from gateway.metrics import Metrics
from gateway.plug import plugs
from gateway.relay import Manner, Relay
from gateway.rules import Rule
from gateway.surfaces import sse
from gateway.types import Draft, Exchange, Principal, Verdict
from tests.rig import DONE, completion, delta, said, usage_event
from tests.verifier import Decide, flags, slow, verifier

CHAT = plugs("surfaces")["chat"]()


@asynccontextmanager
async def closing(decide: Decide, *actions: str, choices: int = 1) -> AsyncIterator[tuple[Closing, Relay, Draft]]:
    exchange = Exchange("rt-1", "chat", "m", Principal("acme"), (), stream=True, choices=choices)
    draft, jury = Draft(), Jury(Metrics())
    async with verifier(decide) as (url, _):
        rules = [Rule.model_validate(slow(url, action, "output", id=action)) for action in actions]
        await jury.apply(rules, ("R101",))
        made = Closing(jury, rules, CHAT, exchange, draft, None, None)
        yield made, Relay(CHAT, exchange, draft, lambda _: (), manner=Manner(made.hold, True)), draft
        await jury.stop()


async def unheard(_piece: bytes) -> None:
    raise AssertionError("nobody is told anything yet")


def frames(*events: bytes) -> list[sse.Frame]:
    return sse.Decoder().feed(b"".join(events))


async def test_nothing_leaves_before_it_was_heard_and_then_it_leaves_as_it_came() -> None:
    events = [delta("一"), delta("切都好"), delta(finish="stop"), usage_event()]
    async with closing(flags("bad"), "block") as (made, relay, draft):
        assert relay.feed(frames(*events[:3])) == []
        assert not made.over
        assert await made.end(relay, unheard) == events[:3]
        assert made.over
        assert relay.feed(frames(events[3])) == events[3:]
    assert draft.verdict is Verdict.ALLOW


async def test_all_that_is_found_is_noted_and_the_worst_decides() -> None:
    async with closing(flags("bad", "worse"), "tag", "monitor") as (made, relay, draft):
        relay.feed(frames(delta("bad and worse"), delta(finish="stop")))
        assert said(b"".join(await made.end(relay, unheard))) == "bad and worse"
    assert sorted((f.rule, f.start, f.end) for f in draft.findings) == [
        ("monitor", 0, 3),
        ("monitor", 8, 13),
        ("tag", 0, 3),
        ("tag", 8, 13),
    ]
    assert draft.verdict is Verdict.TAG


async def test_a_choice_that_is_rejected_ends_without_a_word_and_others_go_on() -> None:
    events = [delta("bad"), delta("good", 1), delta(finish="stop"), delta(finish="stop", index=1)]
    async with closing(flags("bad"), "block", choices=2) as (made, relay, draft):
        relay.feed(frames(*events))
        body = b"".join(await made.end(relay, unheard))
    assert (said(body, 0), said(body, 1)) == ("", "good")
    assert draft.finish == {0: "content_filter", 1: "stop"}
    assert draft.halted[0].text == "bad"
    assert DONE not in body


@pytest.mark.parametrize("text", ["一切都好", "bad"])
async def test_an_answer_in_one_piece(text: str) -> None:
    raw = completion(text, reasoning_content="let me think")
    async with closing(flags("bad"), "block") as (made, _, draft):
        out = await made.whole(raw)
    if text != "bad":
        assert out == raw
        assert not draft.halted
        return
    (choice,) = orjson.loads(out)["choices"]
    assert choice["message"] == {"role": "assistant", "content": "", "reasoning_content": ""}
    assert choice["finish_reason"] == draft.finish[0] == "content_filter"


async def test_an_answer_without_a_word_is_nothing_to_ask_about() -> None:
    async with closing(lambda _: {"verdict": "flag"}, "block") as (made, relay, draft):
        relay.feed(frames(delta("", role="assistant"), delta(finish="stop")))
        assert len(await made.end(relay, unheard)) == 2
    assert draft.findings == []
