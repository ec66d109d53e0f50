"""What was rejected on its whole road: through a real gateway to the engine, and back with the next request like it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from gateway.keys import hashed
from tests.answering import in_turn
from tests.plugin import REPORT, asked, engine, in_front, replicas, settled
from tests.remembered import LONG, body
from tests.rig import (
    CHAT,
    answers,
    chat_stream,
    completion,
    payloads,
    quiet,
    regex,
    serving,
    streams,
    until,
    write_config,
)


def reported(**report: Any) -> bytes:
    """An answer in one piece that holds the engine's report."""
    answer = orjson.loads(completion("hi"))
    return orjson.dumps({**answer, "kv_transfer_params": {"retrace": {**REPORT, **report}}})


BLOCK = [regex("deadly", when={"role": "assistant"})]


async def test_what_was_rejected_is_offered_to_the_next_request_like_it(tmp_path: Path) -> None:
    async with (
        engine(streams(chat_stream("a deadly ", "word"))) as (url, up, plugin),
        in_front(tmp_path, [url], BLOCK) as running,
    ):
        await (await running.chat(LONG, stream=True)).read()
        ((method, told),) = await settled(up, plugin)
        assert (method, told["reason"]) == ("POST", "R101")
        await quiet(running)
        up.script = answers(reported(injected_tokens=300, mode="prefix"))
        got = await running.ask("/v1/chat/completions", body(LONG))
        assert b"kv_transfer_params" not in got
        assert asked(up.calls[1])["donor"] == asked(up.calls[0])["capture"]
        assert asked(up.calls[1])["mode"] == "prefix"
        assert asked(up.calls[1])["recompute"] == {"first": 128, "share": 0.15}
        await settled(up, plugin, 2)
        figures = await running.metrics()
        assert figures['retrace_injected_tokens_total{mode="prefix"}'] == 300  # counted once
        assert figures['retrace_captures_total{reason="R101",verdict="kept"}'] == 1
        assert figures['retrace_captures_total{reason="accepted",verdict="dropped"}'] == 1


REWIND = [regex("deadly", action="rewind")]


@pytest.mark.parametrize("stream", [True, False])
async def test_a_draft_that_was_cut_back_is_kept_and_what_went_on_from_it_is_an_answer_like_any(
    tmp_path: Path, stream: bool
) -> None:
    script = in_turn(streams(chat_stream("a deadly ", "word")), streams(chat_stream(" fine ", "word")))
    async with engine(script) as (url, up, plugin), in_front(tmp_path, [url], REWIND) as running:
        got = await running.ask("/v1/chat/completions", {**body(LONG), "stream": stream})
        assert b"deadly" not in got
        (first, told), (second, _) = await settled(up, plugin, 2)
        assert (first, told["reason"], second) == ("POST", "R101", "DELETE")
        assert up.calls[1].json["continue_final_message"] is True
        await quiet(running)
        up.script = answers(completion("hi"))
        await running.ask("/v1/chat/completions", body(LONG))
        assert asked(up.calls[2])["donor"] == asked(up.calls[0])["capture"]
        figures = await running.metrics()
    assert figures['retrace_captures_total{reason="R101",verdict="kept"}'] == 1
    assert figures['retrace_captures_total{reason="accepted",verdict="dropped"}'] >= 1


async def test_each_draft_that_is_cut_back_is_kept_and_the_last_one_that_blocks_too(tmp_path: Path) -> None:
    script = streams(chat_stream("a deadly ", "word"))
    async with engine(script) as (url, up, plugin), in_front(tmp_path, [url], REWIND) as running:
        await running.ask("/v1/chat/completions", {**body(LONG), "stream": True})
        heard = await settled(up, plugin, 3)
    assert [(method, told["reason"]) for method, told in heard] == [("POST", "R101")] * 3


async def test_a_draft_whose_way_on_fails_is_kept_all_the_same(tmp_path: Path) -> None:
    script = in_turn(streams(chat_stream("a deadly ", "word")), answers(b'{"error": {"message": "no"}}', 500))
    async with engine(script) as (url, up, plugin), in_front(tmp_path, [url], REWIND) as running:
        got = await running.ask("/v1/chat/completions", {**body(LONG), "stream": True})
        assert b'"error"' in got
        heard = await settled(up, plugin, 2)
    assert [method for method, _ in heard][:1] == ["POST"]


async def test_a_stream_s_reuse_is_counted_from_the_verdict_s_answer(tmp_path: Path) -> None:
    async with (
        engine(streams(chat_stream("a fine word"))) as (url, up, plugin),
        in_front(tmp_path, [url], BLOCK) as running,
    ):
        plugin.report = {**REPORT, "injected_tokens": 40, "mode": "prefix"}
        got = await running.ask("/v1/chat/completions", {**body(LONG), "stream": True})
        assert payloads(got)[-1] == "[DONE]"
        await settled(up, plugin)
        assert (await running.metrics())['retrace_injected_tokens_total{mode="prefix"}'] == 40


async def test_the_replica_that_holds_the_donor_is_asked_and_no_other_hears_of_it(tmp_path: Path) -> None:
    async with (
        engine(streams(chat_stream("a deadly ", "word"))) as (one, up_one, plugin_one),
        engine(streams(chat_stream("a deadly ", "word"))) as (two, up_two, plugin_two),
        in_front(tmp_path, [one, two], BLOCK) as running,
    ):
        await (await running.chat(LONG, stream=True)).read()
        await until(lambda: plugin_one.heard or plugin_two.heard)
        await quiet(running)
        holder, other = (up_one, up_two) if up_one.calls else (up_two, up_one)
        for up in (holder, other):
            up.script = answers(completion("fine"))
        for number in range(1, 5):
            await running.ask("/v1/chat/completions", body(LONG))
            assert (len(holder.calls), other.calls) == (1 + number, [])
            assert asked(holder.calls[-1])["donor"] == asked(holder.calls[0])["capture"]
        holding = next(replica for replica in replicas(running) if replica.url == (one if holder is up_one else two))
        holding.healthy = False
        await running.ask("/v1/chat/completions", body(LONG))
        assert asked(other.calls[0])["donor"] is None
        assert asked(other.calls[0])["mode"] == "none"


async def test_tenants_share_neither_salt_nor_donor(tmp_path: Path) -> None:
    tenants = {"keys": [{"hash": hashed(name), "tenant": name} for name in ("one", "two")]}
    async with engine(streams(chat_stream("a deadly ", "word"))) as (url, up, plugin):
        path = write_config(tmp_path, [url], BLOCK, tiers="tiers.yaml")
        (tmp_path / "tiers.yaml").write_text(yaml.safe_dump(tenants))
        async with serving(path) as running:
            await until(lambda: running.server._fleet.patched()["up"])
            for name in ("one", "two", "one"):
                headers = {"authorization": f"Bearer {name}"}
                await (await running.chat(LONG, headers, stream=True)).read()
                await quiet(running)
                await until(lambda: len(plugin.heard) == len(up.calls))
                await asyncio.sleep(0.05)
    salts = [seen.json["cache_salt"] for seen in up.calls]
    assert salts[0] == salts[2] != salts[1]
    assert [asked(seen)["donor"] for seen in up.calls] == [None, None, asked(up.calls[0])["capture"]]


@pytest.mark.parametrize(("capture", "methods"), [("rejected", ["DELETE"]), ("all", ["POST"]), ("none", [])])
async def test_what_is_captured_is_the_configuration_s_to_say(tmp_path: Path, capture: str, methods: list[str]) -> None:
    async with (
        engine(answers(completion("fine"))) as (url, up, plugin),
        in_front(tmp_path, [url], retrace={"capture": capture}) as running,
    ):
        await running.ask("/v1/chat/completions", CHAT)
        assert [method for method, _ in await settled(up, plugin, len(methods))] == methods
        assert up.calls[-1].json["cache_salt"]
        await running.ask("/v1/chat/completions", {**CHAT, "n": 2})
        assert "kv_transfer_params" not in up.calls[-1].json
        assert up.calls[-1].json["cache_salt"]
