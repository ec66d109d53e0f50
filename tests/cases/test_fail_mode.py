"""Cases on checks that fail at work: never a silent pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self

import orjson
import pytest

from gateway.checks import Active, Check, Scanner
from gateway.judge import Judge
from gateway.rules import Place, Rule
from gateway.types import Scan, Side, Verdict, View
from gateway.window import Window
from tests.rig import (
    CHAT,
    DONE,
    Running,
    answers,
    completion,
    delta,
    gateway,
    payloads,
    quiet,
    regex,
    said,
    shaped,
    streams,
    upstream,
)

FAULTS: dict[str, BaseException] = {
    "crash": RuntimeError("the analyser answered 500"),
    "time": TimeoutError("the analyser is silent"),
    "garbage": orjson.JSONDecodeError("what came is no JSON", "<html>", 0),
    "memory": MemoryError(),
    "depth": RecursionError(),
    "key": KeyError("score"),
}


class Failing(Check):
    """Fails at any text that holds `at`."""

    type: Literal["failing"] = "failing"
    fault: Any
    at: str = "x"

    def look(self, view: View) -> tuple[list[tuple[int, int]], int]:
        if self.at in view.text:
            raise self.fault
        return [], len(view.text)


class FailingTogether(Failing):
    """The scanner itself fails, not only the check."""

    @classmethod
    def fuse(cls, checks: Sequence[Self]) -> Scanner:
        return _Broken(checks)


class _Broken:
    def __init__(self, checks: Sequence[Failing]) -> None:
        self._checks = checks

    def scan(self, view: View, active: Active) -> Scan:
        for index in active:
            self._checks[index].look(view)
        return Scan([], len(view.text))


def failing(fault: str, on_error: str, side: str = "output", kind: type[Failing] = Failing, **fields: Any) -> Rule:
    shell = Rule.model_validate(regex("nothing", side=side, on_error=on_error, **fields))
    return shell.model_copy(update={"check": kind(fault=FAULTS[fault])})


def put(running: Running, *rules: Rule) -> None:
    """The house in force, with these rules instead of its own."""
    server = running.server
    judge = Judge(rules, server.metrics.guard_broken)
    server.steward.house = replace(server.steward.house, judge=judge, rules={rule.id: rule for rule in rules})


@pytest.mark.parametrize("kind", [Failing, FailingTogether])
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(
    ("on_error", "verdict"), [("block", Verdict.BLOCK), ("tag", Verdict.TAG), ("allow", Verdict.ALLOW)]
)
def test_C39_C40_a_failing_check_does_what_its_rule_says(
    fault: str, on_error: str, verdict: Verdict, kind: type[Failing]
) -> None:
    counted: list[str] = []
    judge = Judge([failing(fault, on_error, kind=kind)], counted.append)
    window = Window(judge.lanes(Place(Side.OUTPUT, "chat", "m", "t", "s", "assistant")))
    for text in ("fine ", "x", " here ", "on"):
        window.feed(text)
    window.feed("", final=True)
    findings = window.taken()
    assert max((finding.verdict for finding in findings), default=Verdict.ALLOW) is verdict
    assert {finding.reason for finding in findings} == (set() if on_error == "allow" else {"R900"})
    assert counted
    assert set(counted) == {"output.regex"}
    assert (window.halted is not None) is (on_error == "block")


@pytest.mark.parametrize("kind", [Failing, FailingTogether])
def test_C39_one_broken_check_does_not_speak_for_its_neighbours(kind: type[Failing]) -> None:
    """They share a scanner; the broken one answers for itself, the others go on."""
    broken = failing("crash", "tag", kind=kind)
    sound = broken.model_copy(update={"id": "sound", "check": kind(fault=FAULTS["crash"], at="never")})
    blocking = Rule.model_validate(regex("deadly", id="blocking"))
    judge = Judge([broken, sound, blocking])
    window = Window(judge.lanes(Place(Side.OUTPUT, "chat", "m", "t", "s", "assistant")))
    window.feed("x is deadly ", final=True)
    assert {(finding.rule, finding.reason) for finding in window.taken()} == {
        ("output.regex", "R900"),
        ("blocking", "R101"),
    }


@pytest.mark.parametrize("fault", ["crash", "time", "memory"])
@pytest.mark.parametrize("stream", [True, False])
async def test_C40_a_broken_input_guard_that_is_closed_is_a_503(tmp_path: Path, fault: str, stream: bool) -> None:
    async with upstream(answers(completion("hi"))) as (url, up), gateway(tmp_path, [url]) as running:
        put(running, failing(fault, "block", "input", respond="answer", message={"en": "never told"}))
        response = await running.chat("x marks it", stream=stream)
        assert response.status == 503
        error = shaped(await response.read())
        assert error["code"] == "guard_unavailable"
        assert error["message"] == "[R900] Broken."
        assert response.headers["x-should-retry"] == "false"
        assert response.headers["x-retrace-reason"] == "R900"
        assert up.calls == []
        assert (await running.metrics())['retrace_guard_broken_total{rule="input.regex"}'] == 1
        await quiet(running)


@pytest.mark.parametrize(("on_error", "verdict"), [("tag", "tag"), ("allow", "allow")])
async def test_C39_an_open_one_lets_pass_tagged_and_counted(tmp_path: Path, on_error: str, verdict: str) -> None:
    async with upstream(answers(completion("hi"))) as (url, _), gateway(tmp_path, [url]) as running:
        put(running, failing("crash", on_error, "input"))
        response = await running.chat("x marks it")
        assert response.status == 200
        assert await response.read() == completion("hi")
        assert response.headers["x-retrace-verdict"] == verdict
        assert response.headers.get("x-retrace-reason") == ("R900" if on_error == "tag" else None)
        assert (await running.metrics())['retrace_guard_broken_total{rule="input.regex"}'] == 1


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("on_error", ["block", "tag", "allow"])
async def test_C40_a_broken_output_guard(tmp_path: Path, on_error: str, stream: bool) -> None:
    events = [delta("fine "), delta("till x "), delta("came"), delta(finish="stop"), DONE]
    script = streams(events) if stream else answers(completion("fine till x came"))
    async with upstream(script) as (url, _), gateway(tmp_path, [url]) as running:
        put(running, failing("crash", on_error))
        got = await running.ask("/v1/chat/completions", {**CHAT, "stream": stream})
        told = await running.metrics()
        await quiet(running)
    parts = payloads(got)[:-1] if stream else [orjson.loads(got)]
    ends = [choice["finish_reason"] for part in parts for choice in part["choices"]]
    text = said(got) if stream else parts[0]["choices"][0]["message"]["content"]
    assert told['retrace_guard_broken_total{rule="output.regex"}'] >= 1
    if on_error == "block":
        assert "x" not in text
        assert ends[-1] == "content_filter"
    else:
        assert text == "fine till x came"
        assert ends[-1] == "stop"
    assert (
        told[f'retrace_exchanges_total{{surface="chat",verdict="{on_error if on_error != "allow" else "allow"}"}}'] == 1
    )


async def test_C40_a_monitor_that_breaks_changes_nothing(tmp_path: Path) -> None:
    async with upstream(answers(completion("x"))) as (url, _), gateway(tmp_path, [url]) as running:
        put(running, failing("crash", "block", action="monitor"))
        assert await running.ask("/v1/chat/completions", CHAT) == completion("x")
        assert (await running.metrics())['retrace_guard_broken_total{rule="output.regex"}'] >= 1
