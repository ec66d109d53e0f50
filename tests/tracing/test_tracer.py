"""W3C trace context, and what becomes of traces on their way out, with a real gateway and a real receiver of OTLP."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.traceparent import Caller, caller
from tests.answering import says
from tests.dialects import before
from tests.refine.rigs import ANSWER, RATE, both, reads
from tests.rig import (
    Running,
    answers,
    black_hole,
    completion,
    gateway,
    until,
    upstream,
)
from tests.tracing.receiver import CLIENT, receiver, the, tree
from tests.tracing.rigs import EVERYWHERE, REWIND, reading, rewound, traced

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
PARENT = {"traceparent": f"00-{TRACE}-{SPAN}-01", "tracestate": "congo=t61rcWkgMzE"}


# W3C trace context.


async def test_a_caller_s_trace_goes_on_through_every_call(tmp_path: Path) -> None:
    async with (
        receiver() as gatherer,
        before(tmp_path, rewound, [REWIND], tracing={"endpoint": gatherer.url}) as (sdks, up),
    ):
        for number, (surface, stream) in enumerate(EVERYWHERE):
            state = f"congo={number}"
            mine = {"traceparent": f"00-{number + 1:032x}-{SPAN}-01", "tracestate": state}
            await sdks.ask(surface, stream, "说说", extra_headers=mine)
            spans = await gatherer.trace(number)
            assert "traceparent" not in sdks.head
            root, calls = spans[0], [span for span in spans if span.kind == CLIENT]
            assert (root.trace, root.parent, root.state) == (f"{number + 1:032x}", SPAN, state), (surface, stream)
            told = [caller(seen.headers) for seen in up.calls[-2:]]
            assert told == [Caller(number + 1, int(span.id, 16), True, state) for span in calls], (surface, stream)


async def test_a_second_reading_is_part_of_the_trace(tmp_path: Path) -> None:
    async with receiver() as gatherer:
        script = both(says(ANSWER), reads(RATE))
        async with reading(tmp_path, script, gatherer) as (running, up):
            await running.chat("What is the rate?", headers=PARENT)
            spans = await gatherer.trace()
            _, second = up.calls
    (call,) = [span for span in spans if span.parent == the(spans, "read").id]
    found = caller(second.headers)
    assert found is not None
    assert (found.trace, found.span) == (int(TRACE, 16), int(call.id, 16))


@pytest.mark.parametrize("wrong", ["00-1", f"00-{'0' * 32}-{SPAN}-01", "ff" + PARENT["traceparent"][2:]])
async def test_a_caller_that_can_t_be_read_begins_a_new_trace(tmp_path: Path, wrong: str) -> None:
    async with (
        receiver() as gatherer,
        upstream(answers(completion("fine"))) as (url, up),
        gateway(tmp_path, [url], tracing={"endpoint": gatherer.url}) as running,
    ):
        await running.chat(headers={**PARENT, "traceparent": wrong})
        (root, *_) = await gatherer.trace()
    (seen,) = up.calls
    found = caller(seen.headers)
    assert found is not None
    assert root.parent == ""
    assert int(root.trace, 16) == found.trace
    assert root.trace not in (TRACE, "0" * 32)
    assert "tracestate" not in seen.headers


@pytest.mark.parametrize("fields", [{}, {"sample": 0.0, "parent_based": False}], ids=["off", "not sampled"])
async def test_without_a_trace_of_ours_the_caller_s_header_passes_as_it_is(
    tmp_path: Path, fields: dict[str, Any]
) -> None:
    async with receiver() as gatherer, upstream(answers(completion("fine"))) as (url, up):
        tracing = {"endpoint": gatherer.url, **fields} if fields else None
        async with gateway(tmp_path, [url], tracing=tracing) as running:
            await running.chat(headers=PARENT)
            told = await running.metrics()
    (seen,) = up.calls
    assert {name: seen.headers[name] for name in PARENT} == PARENT
    assert gatherer.asked == 0
    assert not any(name.startswith("retrace_trace_total") for name in told)


async def test_a_caller_that_does_not_record_is_not_recorded(tmp_path: Path) -> None:
    async with traced(tmp_path, answers(completion("fine"))) as (running, gatherer):
        await running.chat(headers={"traceparent": f"00-{TRACE}-{SPAN}-00"})
        await running.chat()
        (root, *_) = await gatherer.trace()
        assert root.trace != TRACE
    assert len(gatherer.roots) == 1


async def test_the_explanation_names_the_trace(tmp_path: Path) -> None:
    async with traced(tmp_path, answers(completion("fine"))) as (running, gatherer):
        async with await running.chat(headers={"x-retrace-explain": "1", **PARENT}) as response:
            told = await response.json()
        await gatherer.trace()
    assert told["choices"][0]["retrace"]["trace"] == TRACE


# Whoever gathers them is no reason to fail, to wait, or to grow.


async def events(running: Running) -> dict[str, float]:
    told = await running.metrics()
    start = 'retrace_trace_total{event="'
    return {name[len(start) : -2]: value for name, value in told.items() if name.startswith(start)}


async def _accounted(running: Running, many: int) -> dict[str, float]:
    """What became of so many traces, once it is known of all."""
    async with asyncio.timeout(20):
        while sum((told := await events(running)).values()) < many:  # noqa: ASYNC110 - it is told on a page
            await asyncio.sleep(0.05)
    return told


@pytest.mark.parametrize("kind", ["down", "refuses", "redirects", "breaks", "hangs", "silent", "garbage"])
async def test_who_gathers_badly_is_seen_by_a_counter_alone(tmp_path: Path, kind: str) -> None:
    async with receiver() as gatherer, upstream(answers(completion("fine"))) as (url, _):
        with black_hole() as hole:
            gatherer.status = {"refuses": 401, "redirects": 307, "breaks": 500}.get(kind, 200)
            gatherer.pause = 30.0 if kind == "hangs" else 0.0
            gatherer.says = b"\xff" * (1 << 20) if kind == "garbage" else b""
            where = {"down": "http://127.0.0.1:9", "silent": hole}.get(kind, gatherer.url)
            tracing = {"endpoint": where, "timeout_seconds": 30 if kind == "garbage" else 0.3}
            async with gateway(tmp_path, [url], tracing=tracing) as running:
                async with asyncio.timeout(10):
                    answers_ = await asyncio.gather(*(running.chat() for _ in range(8)))
                assert [answer.status for answer in answers_] == [200] * 8
                lost = "sent" if kind == "garbage" else "failed"
                assert await _accounted(running, 8) == {lost: 8}


async def test_what_finds_no_place_is_lost_and_counted(tmp_path: Path) -> None:
    async with receiver() as gatherer, upstream(answers(completion("fine"))) as (url, _):
        gatherer.pause = 30.0
        tracing = {"endpoint": gatherer.url, "queue": 2, "per_second": 1000, "timeout_seconds": 0.2}
        async with gateway(tmp_path, [url], tracing=tracing) as running:
            for _ in range(12):
                await running.chat()
            told = await _accounted(running, 12)
    assert told["dropped"] >= 1
    assert told.keys() == {"dropped", "failed"}


async def test_too_many_in_a_second_are_not_traced_but_answered(tmp_path: Path) -> None:
    async with (
        receiver() as gatherer,
        upstream(answers(completion("fine"))) as (url, up),
        gateway(tmp_path, [url], tracing={"endpoint": gatherer.url, "per_second": 0.01}) as running,
    ):
        for _ in range(3):
            async with await running.chat(headers=PARENT) as response:
                assert response.status == 200
        await gatherer.trace()
        assert await _accounted(running, 3) == {"limited": 2, "sent": 1}
    assert [seen.headers["traceparent"] == PARENT["traceparent"] for seen in up.calls] == [False, True, True]


@pytest.mark.long
async def test_an_end_hands_over_what_waits_and_is_not_held_up(tmp_path: Path) -> None:
    async with receiver() as gatherer, upstream(answers(completion("fine"))) as (url, _):
        async with gateway(tmp_path, [url], tracing={"endpoint": gatherer.url}) as running:
            await running.chat()
        assert len(gatherer.roots) == 1
        gatherer.pause = 30.0
        async with gateway(tmp_path, [url], tracing={"endpoint": gatherer.url}) as running:
            await running.chat()
        assert gatherer.asked - gatherer.answered == 1  # it is left with the question


async def test_the_section_can_change_while_it_runs(tmp_path: Path) -> None:
    async with (
        receiver() as first,
        receiver() as second,
        upstream(answers(completion("fine"))) as (url, _),
        gateway(tmp_path, [url], tracing={"endpoint": first.url, "service": "one"}) as running,
    ):
        await running.chat()
        await first.trace()
        for section, count in (({"endpoint": second.url, "service": "two"}, 1), (None, 0)):
            await _rewrite(running, section)
            await running.chat()
            await until(lambda count=count: len(second.roots) >= count, 5)  # type: ignore[misc]
        assert (len(first.roots), len(second.roots)) == (1, 1)
        await _rewrite(running, {"sample": 2})  # wrong: nothing changes
        async with running.http.get(f"{running.url}/readyz") as response:
            complaints = (await response.json())["last_error"]["complaints"]
    assert any("sample" in one["field"] for one in complaints)
    assert (first.resources[0]["service.name"], second.resources[0]["service.name"]) == ("one", "two")


async def _rewrite(running: Running, section: dict[str, Any] | None) -> None:
    """Another `tracing` in the file, and the time until it was read."""
    path = running.folder / "gateway.yaml"
    told = yaml.safe_load(path.read_text(encoding="utf-8"))
    told.pop("tracing", None)
    before_it = await running.metrics()
    path.write_text(yaml.safe_dump({**told, "tracing": section} if section else told), encoding="utf-8")
    async with asyncio.timeout(10):
        while _reloads(await running.metrics()) == _reloads(before_it):  # noqa: ASYNC110 - it is told on a page
            await asyncio.sleep(0.05)


def _reloads(told: dict[str, float]) -> float:
    return sum(value for name, value in told.items() if name.startswith("retrace_reloads_total"))


async def test_headers_are_sent_to_who_gathers_and_to_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRACE_HEADERS", "authorization=Bearer%20tok")
    async with receiver() as gatherer, upstream(answers(completion("fine"))) as (url, up):
        tracing = {"endpoint": gatherer.url, "headers_env": "TRACE_HEADERS"}
        async with gateway(tmp_path, [url], tracing=tracing) as running:
            await running.chat()
            await gatherer.trace()
    assert gatherer.headers[0]["authorization"] == "Bearer tok"
    assert gatherer.headers[0]["content-type"] == "application/x-protobuf"
    assert not any("tok" in str(seen.headers.values()) for seen in up.seen)


async def test_a_path_that_is_only_passed_on_is_traced_as_such(tmp_path: Path) -> None:
    async with (
        receiver() as gatherer,
        upstream(answers(b"{}")) as (url, up),
        gateway(tmp_path, [url], tracing={"endpoint": gatherer.url}) as running,
    ):
        await running.http.get(f"{running.url}/version")
        await running.http.get(f"{running.url}/v1/nothing-that-is-known")
        spans = await gatherer.trace()
        await asyncio.sleep(0.8)
    assert tree(spans) == ["pass_through", ".call"]
    assert len(gatherer.roots) == 1
    assert caller(up.calls[0].headers) is not None
