"""One verdict on each capture, however its exchange ends, and what becomes of the verdict on its way to the plugin."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gateway.backends import Outcome, Plan, _patched
from gateway.backends._patched import Plugin
from gateway.backends._replicas import Engine, Replica
from tests.plugin import asked, engine, in_front, settled
from tests.rig import (
    CHAT,
    Script,
    Seen,
    answers,
    chat_stream,
    chunk,
    completion,
    delta,
    http,
    post,
    quiet,
    raw_answer,
    regex,
    said,
    silent,
    stream_head,
    streams,
    until,
    wire,
)

BLOCK = [regex("deadly")]


ENDS: dict[str, tuple[Script, str]] = {
    "stream": (streams(chat_stream("hello")), "DELETE"),
    "stream, blocked": (streams(chat_stream("a deadly ", "word ")), "POST"),
    "stream, broken off": (raw_answer(stream_head(), chunk(delta("hello "))), "DELETE"),
    "stream, blocked, then broken off": (raw_answer(stream_head(), chunk(delta("a deadly one "))), "POST"),
    "stream, an error of its own": (streams([b'data: {"error": {"message": "OOM", "type": "x"}}\n\n']), "DELETE"),
    "whole": (answers(completion("hello")), "DELETE"),
    "whole, blocked": (answers(completion("a deadly word")), "POST"),
    "whole, broken off": (raw_answer(http(completion("hello"))[:-9]), "DELETE"),
    "whole, garbage": (answers(b"garbage"), "DELETE"),
    "refused": (answers(b'{"error": {"message": "no", "type": "x"}}', 400), "DELETE"),
    "failed": (answers(b'{"error": {"message": "no", "type": "x"}}', 500), "DELETE"),
    "key refused": (answers(b"{}", 401), "DELETE"),
    "elsewhere": (answers(b"", 302, {"location": "/x"}), "DELETE"),
    "closed without a word": (raw_answer(b""), "DELETE"),
}


@pytest.mark.parametrize(
    ("end", "patient"), [(end, patient) for end in ENDS for patient in (False, True) if "stream" in end or not patient]
)
async def test_each_capture_hears_one_verdict_however_it_ends(tmp_path: Path, end: str, patient: bool) -> None:
    script, method = ENDS[end]
    limits = {"keep_alive_seconds": 0.5} if patient else {}
    backend = {"retries": 0}
    async with (
        engine(script) as (url, up, plugin),
        in_front(tmp_path, [url], BLOCK, limits=limits, backend=backend) as running,
    ):
        await (await running.chat(stream="stream" in end)).read()
        ((heard, body),) = await settled(up, plugin)
        assert heard == method
        if method == "POST":
            kept = {"sensitive_texts": [], "sensitive_output": True, "ttl_seconds": 3600, "priority": 0}
            assert body == {"reason": "R101", **kept}
        await quiet(running)


@pytest.mark.parametrize("stage", ["before the head", "before the first byte", "in the body", "mid-stream", "waiting"])
async def test_a_client_that_leaves_drops_its_capture(tmp_path: Path, stage: str) -> None:
    begun = raw_answer(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{", hang=True)
    script: Script = {
        "before the head": silent,
        "before the first byte": raw_answer(stream_head(), hang=True),
        "in the body": begun,
        "mid-stream": raw_answer(stream_head(), chunk(delta("word ")), hang=True),
        "waiting": silent,
    }[stage]
    limits = {"keep_alive_seconds": 0.01} if stage == "waiting" else {}
    async with engine(script) as (url, up, plugin), in_front(tmp_path, [url], BLOCK, limits=limits) as running:
        async with wire(running) as (_, writer):
            writer.write(post({**CHAT, "stream": stage != "in the body"}))
            await until(lambda: up.calls)
            await asyncio.sleep(0.05)
        assert await settled(up, plugin) == [("DELETE", None)]
        await quiet(running)
        assert (await running.metrics())['retrace_captures_total{reason="unfinished",verdict="dropped"}'] == 1


@pytest.mark.parametrize("first", ["503", "broken off"])
async def test_each_try_is_a_capture_of_its_own_replica(tmp_path: Path, first: str) -> None:
    failing = answers(b"{}", 503) if first == "503" else raw_answer(b"")
    async with (
        engine(failing) as (one, up_one, plugin_one),
        engine(streams(chat_stream("a deadly ", "word"))) as (two, up_two, plugin_two),
        in_front(tmp_path, [one, two], BLOCK) as running,
    ):
        while not up_one.calls:
            plugin_two.heard.clear()
            up_two.seen.clear()
            await (await running.chat(stream=True)).read()
        assert await settled(up_one, plugin_one) == [("DELETE", None)]
        ((method, _),) = await settled(up_two, plugin_two)
        assert method == "POST"
        assert asked(up_one.calls[0])["capture"] != asked(up_two.calls[-1])["capture"]


async def test_a_second_request_without_usage_is_another_capture(tmp_path: Path) -> None:
    async def script(seen: Seen, writer: asyncio.StreamWriter) -> None:
        refused = answers(b'{"error": {"message": "stream_options?", "type": "x"}}', 400)
        await (refused if "stream_options" in seen.json else streams(chat_stream("hi")))(seen, writer)

    async with engine(script) as (url, up, plugin), in_front(tmp_path, [url]) as running:
        assert said(await running.ask("/v1/chat/completions", {**CHAT, "stream": True})) == "hi"
        assert [method for method, _ in await settled(up, plugin, 2)] == ["DELETE", "DELETE"]


# The plugin's side alone.


class Wire:
    """Questions to an engine, answered from a list (then with 200), and held back while `open` is not set."""

    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)
        self.asked: list[tuple[str, str]] = []
        self.open = asyncio.Event()
        self.open.set()

    async def ask(self, method: str, url: str, _headers: Mapping[str, str], _body: bytes) -> tuple[int, bytes]:
        self.asked.append((method, url))
        await self.open.wait()
        return (self.statuses.pop(0) if self.statuses else 200), b'{"report": {"injected_tokens": 3}}'


def capture(plugin: Plugin, told: list[Outcome], replica: Replica | None = None) -> Any:
    plan = Plan("salt", True, None, told.append)
    return plugin.added(b'{"a":1}', plan, replica or Replica("http://a"), Engine("f", frozenset({"prefix"})))[1]


async def ended(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


VERDICTS: dict[str, tuple[tuple[int, ...], str, int]] = {
    "taken": ((200,), "kept", 1),
    "taken without content": ((204,), "kept", 1),
    "unknown": ((404,), "gone", 1),
    "over": ((410,), "gone", 1),
    "refused": ((401,), "failed", 1),
    "not understood": ((400,), "failed", 1),
    "failed, then taken": ((500, 200), "kept", 2),
    "no answer, then taken": ((0, 200), "kept", 2),
    "failed twice": ((500, 503), "failed", 2),
    "no answer twice": ((0, 0, 200), "failed", 2),
}


@pytest.mark.parametrize("how", VERDICTS)
async def test_what_becomes_of_a_verdict(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    monkeypatch.setattr(_patched, "PAUSE", 0.0)
    statuses, verdict, times = VERDICTS[how]
    line, plugin, told = Wire(*statuses), Plugin("up"), list[Outcome]()
    tasks = plugin.start(line.ask)
    made = capture(plugin, told)
    made.keep("R101", {})
    made.drop("too late")
    made.keep("R307", {})
    await plugin.flush()
    await ended(tasks)
    assert [(outcome.verdict, outcome.reason, outcome.replica) for outcome in told] == [(verdict, "R101", "http://a")]
    assert line.asked == [("POST", f"http://a/retrace/v1/captures/{made.id}")] * times
    assert told[0].report == {"injected_tokens": 3}


async def test_what_the_answer_reported_is_not_reported_again() -> None:
    line, plugin, told = Wire(), Plugin("up"), list[Outcome]()
    tasks = plugin.start(line.ask)
    made = capture(plugin, told)
    made.report = {"injected_tokens": 7}
    made.drop("accepted")
    await plugin.flush()
    await ended(tasks)
    assert [(outcome.verdict, outcome.report) for outcome in told] == [("dropped", {"injected_tokens": 7})]


async def test_a_replica_that_is_down_is_told_nothing() -> None:
    line, plugin, told = Wire(), Plugin("up"), list[Outcome]()
    tasks = plugin.start(line.ask)
    capture(plugin, told, Replica("http://a", healthy=False)).drop("unfinished")
    await plugin.flush()
    await ended(tasks)
    assert [outcome.verdict for outcome in told] == ["failed"]
    assert line.asked == []


async def test_the_queue_is_bounded_and_the_oldest_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_patched, "FLUSH", 0.02)
    line, plugin, told = Wire(), Plugin("up"), list[Outcome]()
    line.open.clear()
    tasks = plugin.start(line.ask)
    made = [capture(plugin, told) for _ in range(_patched.SENDERS)]
    for one in made:
        one.drop("accepted")
    await until(lambda: len(line.asked) == _patched.SENDERS)
    waiting = [capture(plugin, told) for _ in range(_patched.MOST + 3)]
    for one in waiting:
        one.drop("accepted")
    assert [(outcome.verdict, outcome.capture) for outcome in told] == [("lost", one.id) for one in waiting[:3]]
    await plugin.flush()
    await ended(tasks)
    assert len(told) == len({outcome.capture for outcome in told}) == len(waiting) + len(made)
    assert {outcome.verdict for outcome in told} == {"lost"}


async def test_verdicts_that_wait_are_sent_before_the_gateway_ends(tmp_path: Path) -> None:
    async with engine(answers(completion("hi"))) as (url, up, plugin):
        async with in_front(tmp_path, [url]) as running:
            for _ in range(20):
                await running.ask("/v1/chat/completions", CHAT)
        assert len(await settled(up, plugin, 20)) == 20
