"""The plugin inside a vLLM, behind a real gateway: how it is found, and what it is asked beside a request."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import orjson
import pytest

from gateway.backends import Donor, Plan, _http, _patched
from gateway.backends._patched import Plugin
from gateway.backends._replicas import Engine, Replica
from gateway.kv import ask
from gateway.surfaces import Asking
from tests.plugin import asked, engine, in_front, replicas, settled
from tests.rig import (
    CHAT,
    PROMPT,
    Script,
    answers,
    completion,
    gateway,
    quiet,
    raw_answer,
    regex,
    silent,
    streams,
    text_stream,
    until,
    upstream,
)

BLOCK = [regex("deadly")]
FOUND = b'{"plugin": "0.1.0", "engine": {"fingerprint": "f", "modes": ["prefix"]}, "pool": {}}'

NO_PLUGIN: dict[str, Script] = {
    "not found": answers(b"", 404),
    "refused": answers(b"", 401),
    "failed": answers(FOUND, 500),
    "elsewhere": answers(b"", 307, {"location": "/retrace/v1/other"}),
    "html": answers(b"<html>"),
    "a list": answers(b"[1]"),
    "another thing": answers(completion("hi")),
    "no engine yet": answers(b'{"plugin": "0.1.0", "engine": null, "pool": {}}'),
    "no modes": answers(b'{"plugin": "0.1.0", "engine": {"fingerprint": "f"}, "pool": {}}'),
    "an engine that is none": answers(b'{"plugin": "0.1.0", "engine": "x"}'),
    "closed": raw_answer(b""),
    "half": raw_answer(b"HTTP/1.1 200 OK\r\ncontent-length: 900\r\n\r\n{"),
}


@pytest.mark.parametrize("how", NO_PLUGIN)
async def test_without_a_plugin_all_works_and_nothing_of_ours_is_sent(tmp_path: Path, how: str) -> None:
    async with upstream(answers(completion("a deadly word"))) as (url, up):
        up.plugin = NO_PLUGIN[how]
        async with gateway(tmp_path, [url], BLOCK) as running:
            await until(lambda: any(seen.path == "/retrace/v1/health" for seen in up.seen))
            await asyncio.sleep(0.02)
            for path, body in (("/v1/chat/completions", CHAT), ("/v1/completions", PROMPT)):
                await running.ask(path, body)
                assert up.calls[-1].json == body
            assert running.server._fleet.patched() == {"up": False}
            await quiet(running)


async def test_a_plugin_that_does_not_answer_delays_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_http, "_PATIENCE", 0.05)
    async with upstream(answers(completion("hi"))) as (url, up):
        up.plugin = silent
        async with gateway(tmp_path, [url], backend={"health_seconds": 0.02}) as running:
            assert await running.ask("/v1/chat/completions", CHAT) == completion("hi")
            await until(lambda: len([s for s in up.seen if s.path == "/retrace/v1/health"]) > 1)
            assert up.calls[-1].json == CHAT


async def test_an_endpoint_of_another_kind_is_not_even_asked(tmp_path: Path) -> None:
    async with engine(answers(completion("hi"))) as (url, up, plugin):
        backend = {"type": "openai", "health_seconds": 0.01}
        async with gateway(tmp_path, [url], backend=backend) as running:
            await until(lambda: len([s for s in up.seen if s.path == "/v1/models"]) > 3)
            await running.ask("/v1/chat/completions", CHAT)
            assert up.calls[-1].json == CHAT
        assert plugin.asked == 0


async def test_a_plugin_that_comes_later_is_found_and_one_that_goes_is_noticed(tmp_path: Path) -> None:
    async with (
        engine(answers(completion("hi")), ready=False) as (url, up, plugin),
        gateway(tmp_path, [url], backend={"health_seconds": 0.01}) as running,
    ):
        await until(lambda: plugin.asked > 1)  # who has no engine yet is asked again soon
        assert running.server._fleet.patched() == {"up": False}
        plugin.ready = True
        await until(lambda: running.server._fleet.patched()["up"])
        await running.ask("/v1/chat/completions", CHAT)
        assert up.calls[-1].json["cache_salt"]
        up.plugin = answers(b"", 404)
        await until(lambda: not running.server._fleet.patched()["up"])
        await running.ask("/v1/chat/completions", CHAT)
        assert up.calls[-1].json == CHAT


async def test_who_comes_back_is_asked_at_once_and_told_nothing_before(tmp_path: Path) -> None:
    async with (
        engine(answers(completion("hi"))) as (url, _, plugin),
        in_front(tmp_path, [url], backend={"health_seconds": 0.02}) as running,
    ):
        (replica,) = replicas(running)
        before = plugin.asked
        replica.healthy = False  # as after a connection that failed
        await until(lambda: replica.healthy and plugin.asked == before + 1)
        await until(lambda: replica.engine)


async def test_the_secret_is_shown_and_a_wrong_one_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("RETRACE_ENGINE_SECRET", "right")
    async with engine(answers(completion("hi")), secret="right") as (url, up, plugin):
        async with in_front(tmp_path, [url]) as running:
            await running.ask("/v1/chat/completions", CHAT)
            await settled(up, plugin)
        assert "x-retrace-secret" not in up.calls[-1].headers
    monkeypatch.setenv("RETRACE_ENGINE_SECRET", "wrong")
    monkeypatch.setattr(_patched, "ASK_AGAIN", 0)
    async with (
        engine(answers(completion("hi")), secret="right") as (url, up, _),
        gateway(tmp_path, [url], backend={"health_seconds": 0.01}) as running,
    ):
        await until(lambda: len([s for s in up.seen if s.path == "/retrace/v1/health"]) > 3)
        await running.ask("/v1/chat/completions", CHAT)
        assert up.calls[-1].json == CHAT
    (told,) = [record for record in caplog.records if "RETRACE_ENGINE_SECRET" in record.getMessage()]
    assert told.levelno == logging.WARNING
    assert "wrong" not in told.getMessage()


async def test_what_is_asked_is_what_the_contract_says(tmp_path: Path) -> None:
    async with (
        engine(answers(completion("hi"))) as (url, up, plugin),
        in_front(tmp_path, [url], backend={"health_seconds": 60}) as running,
    ):
        await running.ask("/v1/chat/completions", CHAT)
        sent = up.calls[-1].json
        told = asked(up.calls[-1])
        assert len(bytes.fromhex(told.pop("capture"))) == 16
        assert told == {"donor": None, "mode": "none"}
        assert len(bytes.fromhex(sent.pop("cache_salt"))) == 32
        sent.pop("kv_transfer_params")
        assert sent == CHAT
        up.script = streams(text_stream("hi"))
        await running.ask("/v1/completions", {**PROMPT, "stream": True})
        assert asked(up.calls[-1])["mode"] == "none"
        assert len(await settled(up, plugin, 2)) == 2


async def test_what_a_client_sends_in_our_name_is_not_what_the_engine_gets(tmp_path: Path) -> None:
    async with engine(answers(completion("hi"))) as (url, up, _), in_front(tmp_path, [url]) as running:
        theirs = {"kv_transfer_params": {"retrace": {"donor": "theirs"}}, "cache_salt": "theirs"}
        await running.ask("/v1/chat/completions", {**CHAT, **theirs})
        assert b"theirs" not in up.calls[-1].body


@pytest.mark.parametrize("path", ["/v1/embeddings", "/tokenize"])
async def test_what_generates_nothing_is_sent_as_it_is(tmp_path: Path, path: str) -> None:
    async with engine(answers(b"{}")) as (url, up, plugin), in_front(tmp_path, [url]) as running:
        await running.ask(path, {"model": "m", "input": "hi"})
        assert up.calls[-1].json == {"model": "m", "input": "hi"}
        await quiet(running)
        assert plugin.heard == []


async def test_a_large_body_arrives_whole(tmp_path: Path) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "long " * 60_000}]}
    async with engine(answers(completion("hi"))) as (url, up, plugin), in_front(tmp_path, [url]) as running:
        await running.ask("/v1/chat/completions", body)
        sent = up.calls[-1].json
        assert sent["messages"] == body["messages"]
        assert sent["cache_salt"]
        assert len(await settled(up, plugin)) == 1


def test_what_else_a_plan_asks_of_the_plugin_stands_beside_the_donor() -> None:
    plan = Plan("salt", True, Donor("d", "http://a", "prefix", {}), more={"owner": "o", "record": False})
    body, made = Plugin("up").added(b'{"a":1}', plan, Replica("http://a"), Engine("f", frozenset({"prefix"})))
    assert made
    told = orjson.loads(body)["kv_transfer_params"]
    assert told["retrace"] == made.asked
    read = ask.parse(told)
    assert read
    assert (read.capture, read.donor, read.owner, read.record) == (made.id, "d", "o", False)


async def test_without_a_donor_too_a_replica_can_be_wished_for(tmp_path: Path) -> None:
    async with (
        engine(answers(completion("one"))) as (one, _, _),
        engine(answers(completion("two"))) as (two, _, _),
        in_front(tmp_path, [one, two]) as running,
    ):
        way = running.server._pipeline.way
        for wished in (two, two, one, two):
            answer = await way.repeat("up", Asking("/v1/chat/completions", CHAT), Plan("s", replica=wished))
            assert await answer.read(1000) == completion("two" if wished == two else "one")
            answer.close()


@pytest.mark.parametrize(
    ("mode", "modes", "named"),
    [
        ("splice", {"prefix", "splice"}, "splice"),
        ("splice", {"prefix"}, "prefix"),
        ("splice", set(), None),
        ("prefix", {"prefix", "splice"}, "prefix"),
        ("prefix", {"splice"}, None),
    ],
)
def test_a_donor_is_named_to_the_replica_that_holds_it_in_a_mode_it_knows(
    mode: str, modes: set[str], named: str | None
) -> None:
    plan = Plan("salt", True, Donor("d", "http://a", mode, {"ban": True}))
    for url in ("http://a", "http://b"):
        body, made = Plugin("up").added(b'{"a":1}', plan, Replica(url), Engine("f", frozenset(modes)))
        assert made
        told = orjson.loads(body)["kv_transfer_params"]["retrace"]
        donor = {"donor": "d", "mode": named, "ban": True} if named and url == "http://a" else None
        assert told == {"capture": made.id, **(donor or {"donor": None, "mode": "none"})}
