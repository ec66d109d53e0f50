"""Cases on time: a guard lets text go as soon as it may, and looks at it no oftener than it must."""

from __future__ import annotations

import itertools
import time
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import Field

from gateway.checks import Check
from gateway.judge import Judge
from gateway.rules import Place, Rule
from gateway.types import Side, View
from gateway.window import Window
from tests.rig import CHAT, DONE, delta, gateway, regex, rule, streams, upstream

PACE = 0.01
GUARD = [
    regex("forbidden word"),
    rule({"type": "pii"}, "mask"),
    rule({"type": "words", "words": ["bomb"]}),
    rule({"type": "length", "max_chars": 100_000}),
]


async def arrivals(
    folder: Path, rules: list[dict[str, Any]], count: int = 60
) -> tuple[list[float], dict[str, float], str]:
    """When each event came, in seconds since the request; the metrics; the delivery that was announced."""
    sent = [*(delta(f"word{n} ") for n in range(count)), delta(finish="stop"), DONE]
    async with upstream(streams(sent, pause=PACE)) as (url, _), gateway(folder, [url], rules) as running:
        began = time.perf_counter()
        response = await running.chat(stream=True)
        times = [time.perf_counter() - began async for _ in response.content.iter_any()]
        return times, await running.metrics(), response.headers["x-retrace-delivery"]


async def test_C32_C34_a_guard_does_not_gather_the_stream(tmp_path: Path) -> None:
    """The same pace with guards as without, and the first word long before the last; the mode is told in a header."""
    for name, rules in (("open", []), ("guarded", GUARD)):
        (tmp_path / name).mkdir()
        times, told, delivery = await arrivals(tmp_path / name, rules)
        assert delivery == "live"
        assert len(times) > 40  # pieces that came one by one
        assert times[0] < 15 * PACE
        assert max(b - a for a, b in itertools.pairwise(times)) < 0.3
        assert times[-1] > 50 * PACE
        assert told['retrace_time_to_first_token_seconds_count{surface="chat"}'] == 1
        assert told['retrace_holdback_chars_count{surface="chat"}'] == 1
        assert told['retrace_holdback_chars_bucket{le="64.0",surface="chat"}'] == 1  # bounded by what the rules need


async def test_C32_text_that_could_become_a_match_waits_and_no_other(tmp_path: Path) -> None:
    sent = [delta("clear words "), delta("forbidden "), delta("fruit "), delta("and on "), delta(finish="stop"), DONE]
    async with (
        upstream(streams(sent, pause=0.05)) as (url, _),
        gateway(tmp_path, [url], [regex("forbidden word")]) as running,
    ):
        response = await running.chat(stream=True)
        pieces = [piece async for piece in response.content.iter_any()]
    assert pieces[0] == sent[0]
    assert pieces[1] == sent[1] + sent[2]  # "forbidden " had to wait for the word behind it
    assert pieces[2] == sent[3]


class Counting(Check):
    """Notes each look it is asked for."""

    type: Literal["counting"] = "counting"
    looks: list[View] = Field(default_factory=list)

    def look(self, view: View) -> tuple[list[tuple[int, int]], int]:
        self.looks.append(view)
        return [], len(view.text)


@pytest.mark.parametrize("cut", [1, 3, 7, 1000])
def test_C33_no_look_without_new_text_and_one_at_the_end(cut: int) -> None:
    text = " ".join(f"word{n}" for n in range(120))
    check = Counting()
    chosen = Rule.model_validate(regex("x", action="block")).model_copy(update={"check": check})
    window = Window(Judge([chosen]).lanes(Place(Side.OUTPUT, "chat", "m", "t", "s", "assistant")))
    for place in range(0, len(text), cut):
        window.feed(text[place : place + cut])
    window.feed("", final=True)
    looks = check.looks
    assert [view.final for view in looks] == [False] * (len(looks) - 1) + [True]
    ends = [view.base + len(view.text) for view in looks]
    assert all(a < b for a, b in itertools.pairwise(ends)) or ends[-1] == ends[-2]
    assert len(looks) <= 120 + 1
    assert ends[-1] == len(text)


async def test_C33_what_was_judged_is_not_judged_again_at_the_end_of_a_stream(tmp_path: Path) -> None:
    """A rule that has found something says so once, in a stream as in one piece."""
    sent = [delta("a secret "), delta("and a secret "), delta("end"), delta(finish="stop"), DONE]
    async with (
        upstream(streams(sent)) as (url, _),
        gateway(tmp_path, [url], [regex("secret", action="tag"), regex("end", action="mask", id="m")]) as running,
    ):
        await running.ask("/v1/chat/completions", {**CHAT, "stream": True})
        told = await running.metrics()
    counted = {name: value for name, value in told.items() if name.startswith("retrace_verdicts_total")}
    assert sorted(counted.values()) == [1, 2]
