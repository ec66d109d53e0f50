"""The figures: each counted once, where it belongs."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Any

import pytest

from gateway.metrics import Metrics
from gateway.types import Action, Finding, Side, Usage, Verdict
from tests.rig import (
    CHAT,
    DONE,
    PROMPT,
    answers,
    completion,
    delta,
    gateway,
    quiet,
    raw_answer,
    regex,
    streams,
    until,
    upstream,
)

REQUESTS = 'retrace_requests_total{{status="{}",stream="{}",surface="{}"}}'


def page(metrics: Metrics) -> dict[str, float]:
    lines = metrics.page().decode().splitlines()
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")}


def test_two_gateways_in_one_process_count_apart() -> None:
    one, two = Metrics(), Metrics()
    one.client_gone("chat")
    assert page(one)['retrace_client_gone_total{surface="chat"}'] == 1
    assert 'retrace_client_gone_total{surface="chat"}' not in page(two)


def test_each_figure_has_its_name_and_labels() -> None:
    metrics = Metrics()
    metrics.observe_exchange("chat", True, 200, 0.5, 0.001)
    metrics.observe_verdict("chat", Verdict.MASK)
    metrics.observe_findings(Side.OUTPUT, [Finding("r", "R101", Action.MASK, 0, 1)] * 2)
    metrics.observe_usage("team", Usage(7, 5))
    metrics.observe_usage("team", None)
    metrics.upstream_error("up", "garbage")
    metrics.guard_broken("r")
    metrics.observe_capture("kept", "R101")
    metrics.observe_injection("splice", 900, 64)
    metrics.observe_declined("cached")
    metrics.reloaded(ok=False)
    told = page(metrics)
    assert told[REQUESTS.format(200, "true", "chat")] == 1
    assert told['retrace_exchanges_total{surface="chat",verdict="mask"}'] == 1
    assert told['retrace_verdicts_total{action="mask",reason="R101",rule="r",side="output"}'] == 2
    assert told['retrace_tokens_total{kind="prompt",tenant="team"}'] == 7
    assert told['retrace_tokens_total{kind="completion",tenant="team"}'] == 5
    assert told['retrace_upstream_errors_total{backend="up",kind="garbage"}'] == 1
    assert told['retrace_guard_broken_total{rule="r"}'] == 1
    assert told['retrace_captures_total{reason="R101",verdict="kept"}'] == 1
    assert told['retrace_injected_tokens_total{mode="splice"}'] == 900
    assert told['retrace_recomputed_tokens_total{mode="splice"}'] == 64
    assert told['retrace_declined_total{reason="cached"}'] == 1
    assert told['retrace_reloads_total{result="failed"}'] == 1
    assert told["retrace_reload_ok"] == 0
    metrics.reloaded(ok=True)
    assert page(metrics)["retrace_reload_ok"] == 1


def test_a_backend_that_is_gone_is_neither_up_nor_down() -> None:
    metrics = Metrics()
    metrics.backends({"one": True, "two": False})
    told = page(metrics)
    assert (told['retrace_backend_up{backend="one"}'], told['retrace_backend_up{backend="two"}']) == (1, 0)
    metrics.backends({"one": False})
    told = page(metrics)
    assert told['retrace_backend_up{backend="one"}'] == 0
    assert math.isnan(told['retrace_backend_up{backend="two"}'])
    metrics.backends({"one": False, "two": True})
    assert page(metrics)['retrace_backend_up{backend="two"}'] == 1


async def test_a_scrape_tells_which_backends_are_down(tmp_path: Path) -> None:
    async with upstream(answers(completion("hi"))) as (url, _), gateway(tmp_path, [url]) as running:
        await until(running.server._fleet.first()[1].healthy)
        assert (await running.metrics())['retrace_backend_up{backend="up"}'] == 1
    async with gateway(tmp_path, ["http://127.0.0.1:9"]) as running:
        await until(lambda: not running.server._fleet.first()[1].healthy())
        assert (await running.metrics())['retrace_backend_up{backend="up"}'] == 0


async def test_a_rewind_that_can_not_be_had_is_counted_by_what_it_means_instead(tmp_path: Path) -> None:
    rules = [
        regex("guaranteed", action="rewind", id="promise", rewind={"budget": 1}),
        regex("surely", action="rewind", id="surely", rewind={"budget": 1, "else": "tag"}),
    ]
    told: list[dict[str, float]] = []
    for word in ("guaranteed", "surely", "fair"):
        script = streams([delta("It pays a "), delta(f"{word} rate."), delta(finish="stop"), DONE])
        async with upstream(script) as (url, _), gateway(tmp_path, [url], rules) as running:
            async with await running.chat(stream=True) as response:
                await response.read()
            told.append(await running.metrics())
    spent = [{name: value for name, value in one.items() if "rewinds_spent_total" in name} for one in told]
    assert spent == [
        {'retrace_rewinds_spent_total{action="block",reason="R101"}': 1},
        {'retrace_rewinds_spent_total{action="tag",reason="R101"}': 1},
        {},
    ]


async def test_every_way_a_request_can_end_is_counted_once(tmp_path: Path) -> None:
    rules = [regex("bomb", side="input"), regex("private", side="input", id="canned", respond="answer")]
    async with (
        upstream(answers(completion("hi"))) as (url, up),
        gateway(tmp_path, [url], rules, backend={"retries": 0}) as running,
    ):
        await (await running.chat()).read()
        await (await running.chat("bomb")).read()
        await (await running.chat("private", stream=True)).read()
        await (await running.http.post(f"{running.url}/v1/completions", json=PROMPT)).read()
        await (await running.http.post(f"{running.url}/v1/completions", data=b"{")).read()
        await (await running.http.post(f"{running.url}/v1/embeddings", json=PROMPT)).read()
        await (await running.http.post(f"{running.url}/v1/audio/speech", json=PROMPT)).read()
        up.script = raw_answer(b"")
        await (await running.chat(stream=True)).read()
        up.script = streams([delta("hi ")])
        await (await running.chat(stream=True)).read()
        await quiet(running)
        told = await running.metrics()
    counted = {name: value for name, value in told.items() if name.startswith("retrace_requests_total")}
    assert counted == {
        REQUESTS.format(200, "false", "chat"): 1,
        REQUESTS.format(400, "false", "chat"): 1,
        REQUESTS.format(200, "true", "chat"): 2,  # the canned one, and the one whose end was told inside
        REQUESTS.format(200, "false", "completions"): 1,
        REQUESTS.format(400, "false", "completions"): 1,
        REQUESTS.format(200, "false", "pass_through"): 1,
        REQUESTS.format(404, "false", "unmatched"): 1,
        REQUESTS.format(502, "true", "chat"): 1,
    }
    assert told['retrace_upstream_errors_total{backend="up",kind="broken_off"}'] == 2
    assert sum(v for n, v in told.items() if n.startswith("retrace_request_duration_seconds_count")) == 9


async def test_in_flight_counts_what_is_under_way(tmp_path: Path) -> None:
    go = asyncio.Event()

    async def slow(seen: Any, writer: asyncio.StreamWriter) -> None:
        await go.wait()
        await answers(completion("x"))(seen, writer)

    async with upstream(slow) as (url, up), gateway(tmp_path, [url]) as running:
        asking = [asyncio.create_task(running.ask("/v1/chat/completions", CHAT)) for _ in range(3)]
        await until(lambda: len(up.calls) == 3)
        assert (await running.metrics())["retrace_in_flight"] == 3
        go.set()
        await asyncio.gather(*asking)
        assert (await running.metrics())["retrace_in_flight"] == 0


@pytest.mark.parametrize("wait", [0, 0.1])
async def test_own_time_is_not_the_upstreams(tmp_path: Path, wait: float) -> None:
    async with (
        upstream(streams([delta("a ", finish="stop"), DONE], pause=wait)) as (url, _),
        gateway(tmp_path, [url]) as running,
    ):
        await running.ask("/v1/chat/completions", {**CHAT, "stream": True})
        await quiet(running)
        told = await running.metrics()
    assert 0 < told['retrace_overhead_seconds_sum{surface="chat"}'] < 0.09
    assert told['retrace_request_duration_seconds_sum{surface="chat"}'] >= wait
