"""The watchman in a real gateway: what he notes, what he has repeated, what he shows, and whom he tells."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway.types import Reuse
from gateway.watch.series import Figure, Reading
from gateway.watch.watchman import Watchman
from tests.plugin import asked
from tests.rig import RawUpstream, Running, quiet, until
from tests.watch.twice import LONG, Twin, twin

ALL: dict[str, Any] = {"rate": 1, "tokens_per_hour": 1_000_000, "idle_below": 1}


@asynccontextmanager
async def watched(
    folder: Path, shadow: dict[str, Any] | None = None, **fields: Any
) -> AsyncIterator[tuple[Running, Twin, RawUpstream]]:
    """A gateway whose engine has kept what a first exchange left."""
    words = {"shadow": {**ALL, **(shadow or {})}, "every_seconds": 3600}
    async with twin(folder, words, **fields) as (running, engine, up):
        assert (await running.chat(LONG)).status == 200
        await until(lambda: len(engine.heard) == 1)
        yield running, engine, up


def watchman(running: Running) -> Watchman:
    return running.server.watchman


async def shadows(running: Running) -> dict[str, float]:
    """What became of exchanges that were drawn."""
    name = "retrace_shadow_total{result="
    return {
        key.removeprefix(name).strip('"}'): n for key, n in (await running.metrics()).items() if key.startswith(name)
    }


async def settled(running: Running, **results: int) -> None:
    async with asyncio.timeout(15):
        while await shadows(running) != results:  # noqa: ASYNC110 - what is waited for tells nobody
            await asyncio.sleep(0.01)


def pairs(running: Running) -> list[Any]:
    return watchman(running).series.pairs(time.time(), 3600)


@pytest.mark.parametrize("stream", [False, True])
async def test_an_exchange_with_a_donor_is_repeated_with_it_and_without(tmp_path: Path, stream: bool) -> None:
    async with watched(tmp_path, own=10, other="It can not be sent back within 14 days.") as (running, engine, up):
        response = await running.chat(LONG, stream=stream)
        assert b"not" in await response.read()
        await settled(running, made=1)
        told = await running.metrics()
        _, client, *repeats = up.calls
        assert len(repeats) == 2
        assert {asked(seen)["donor"] for seen in repeats} == {asked(client)["donor"], None}
        assert {seen.json["messages"][0]["content"] for seen in repeats} == {LONG}
        (pair,) = pairs(running)
        assert (pair.reason, pair.arm, pair.mode, pair.fair) == ("accepted", "now", "prefix", True)
        assert pair.alike == pytest.approx(2 * 8 / (8 + 9))
        assert pair.at == pytest.approx(time.time(), abs=60)
        # the client's tokens and captures are his two exchanges', the repeats' are apart
        assert told['retrace_tokens_total{kind="prompt",tenant="default"}'] == 2000
        assert sum(n for name, n in told.items() if name.startswith("retrace_captures_total")) == 2
        assert told['retrace_shadow_tokens_total{side="with"}'] == 1008
        assert told['retrace_shadow_tokens_total{side="without"}'] == 1008
        assert sum(n for name, n in told.items() if name.startswith("retrace_requests_total")) == 2
        await quiet(running)
    assert engine.of(str(asked(repeats[0])["capture"])) == ["DELETE"]


async def test_without_a_donor_nothing_is_repeated(tmp_path: Path) -> None:
    async with watched(tmp_path, injects=0) as (running, engine, up):
        await running.chat(LONG)
        await running.chat("another matter altogether")
        await until(lambda: len(engine.heard) == 3)
        await asyncio.sleep(0.05)
        assert len(up.calls) == 3
        assert await shadows(running) == {}
        figure = watchman(running).series.chr(time.time(), 60)
        assert figure is not None
        assert (figure.value, figure.count) == (0, 3)


@pytest.mark.parametrize("shadow", [{"rate": 0}, {"rate": 0.5, "weights": [{"window": "00:00-24:00", "weight": 0}]}])
async def test_what_is_not_drawn_is_not_repeated(tmp_path: Path, shadow: dict[str, Any]) -> None:
    async with watched(tmp_path, shadow) as (running, engine, up):
        await running.chat(LONG)
        await until(lambda: len(engine.heard) == 2)
        await asyncio.sleep(0.05)
        assert len(up.calls) == 2
        reading = await watchman(running).read()
        assert reading is not None
        assert reading.chr is not None
        assert (reading.chr.value, reading.chr.count) == (0.5, 2)
        assert reading.by_code["accepted"].share == 1


async def test_the_lot_falls_on_about_as_many_as_it_should(tmp_path: Path) -> None:
    async with watched(tmp_path, {"rate": 0.2}) as (running, _, _up):
        drawn = [watchman(running)._drawn(f"rt-{number}") for number in range(2000)]
        assert 0.15 < sum(drawn) / 2000 < 0.25
        assert drawn == [watchman(running)._drawn(f"rt-{number}") for number in range(2000)]


async def test_over_its_budget_nothing_is_repeated(tmp_path: Path) -> None:
    async with watched(tmp_path, {"tokens_per_hour": 2500}) as (running, _, up):
        await running.chat(LONG)
        await settled(running, made=1)
        await running.chat(LONG)
        await settled(running, made=1, budget=1)
        assert len(up.calls) == 5


async def test_one_waits_until_there_is_time_and_the_others_of_the_queue_with_it(tmp_path: Path) -> None:
    async with watched(tmp_path, {"waiting": 2}) as (running, engine, _):
        running.server._pipeline.under_way += 1  # somebody asks, and takes his time
        for count in range(4):
            await running.chat(LONG)
            await until(lambda count=count: len(engine.heard) == count + 2)  # type: ignore[misc]
        await settled(running, displaced=2)
        running.server._pipeline.under_way -= 1
        await settled(running, displaced=2, made=2)
        assert len(pairs(running)) == 2


async def test_what_has_waited_too_long_is_given_up(tmp_path: Path) -> None:
    async with watched(tmp_path, {"wait_seconds": 0.01}) as (running, _, _up):
        running.server._pipeline.under_way += 1
        await running.chat(LONG)
        await settled(running, late=1)
        running.server._pipeline.under_way -= 1


async def test_what_failed_is_counted_and_the_next_is_repeated(tmp_path: Path) -> None:
    async with watched(tmp_path, torn=False) as (running, engine, _):
        engine.torn = True
        await running.chat(LONG)
        await settled(running, torn=1)
        engine.torn = False
        await running.chat(LONG)
        await settled(running, torn=1, made=1)
        await quiet(running)


async def test_a_gateway_that_ends_gives_a_repeat_up(tmp_path: Path) -> None:
    async with watched(tmp_path) as (running, engine, up):
        engine.pause = 30  # from now on, an answer without a donor does not come
        await running.chat(LONG)
        await until(lambda: any(asked(seen)["donor"] is None for seen in up.calls[2:]))
        without = next(seen for seen in up.calls[2:] if asked(seen)["donor"] is None)
        await running.server.stop()
        await asyncio.wait_for(without.closed.wait(), 1)
        assert b'retrace_shadow_total{result="stopped"} 1.0' in running.server.metrics.page()


async def test_the_figures_are_shown_and_told(tmp_path: Path) -> None:
    async with watched(tmp_path) as (running, _, _up):
        told: list[Reading] = []

        async def act(reading: Reading) -> None:
            told.append(reading)

        watchman(running)._act = act
        await watchman(running).read()
        page = await running.metrics()
        assert math.isnan(page['retrace_figure{figure="cs",of="value"}'])
        assert page['retrace_figure_samples{figure="cs"}'] == 0
        for _ in range(6):
            await running.chat(LONG)
        await settled(running, made=6)
        reading = await watchman(running).read()
        assert reading is told[1] is watchman(running).last
        page = await running.metrics()
        assert page['retrace_figure{figure="cs",of="value"}'] == 1
        assert 0 < page['retrace_figure{figure="cs",of="low"}'] < 1
        assert page['retrace_figure_samples{figure="cs"}'] == 6
        assert page['retrace_figure{figure="chr",of="value"}'] == pytest.approx(6 / 7)
        assert page['retrace_figure{figure="top1",of="value"}'] == 1
        assert page['retrace_figure{figure="kl",of="value"}'] == 0
        assert page['retrace_figure{figure="ld_first",of="high"}'] == math.inf  # too few
        assert page['retrace_figure{figure="ld_first_median",of="high"}'] < math.inf
        assert page['retrace_figure_samples{figure="ld_total"}'] == 6
        assert reading is not None
        assert reading.by_code["accepted"].cs == reading.cs


async def test_the_figures_are_read_at_regular_times(tmp_path: Path) -> None:
    async with watched(tmp_path) as (running, _, _up):
        assert watchman(running).last is None
        words = {"shadow": ALL, "every_seconds": 1}
        (tmp_path / "watch.yaml").write_text(yaml.safe_dump(words))
        await until(lambda: watchman(running)._file.every_seconds == 1, 5)  # type: ignore[union-attr]
        watchman(running)._tasks[0].cancel()  # it sleeps for an hour
        watchman(running)._tasks[0] = asyncio.create_task(watchman(running)._read_on())
        await until(lambda: watchman(running).last is not None, 5)


async def test_a_store_or_an_engine_that_is_down_is_a_fault(tmp_path: Path) -> None:
    async with watched(tmp_path) as (running, _, _up):
        reading = await watchman(running).read()
        assert reading is not None
        assert reading.faults == frozenset()
        for declined in ("load_failed", "fault", "load_failed", "cached"):
            watchman(running).reuse(Reuse("e", "c", "u", "dropped", "", "d", "R101", declined=declined))
        reading = await watchman(running).read()
        assert reading is not None
        assert reading.faults == {"engine"}
        reading = await watchman(running).read()
        assert reading is not None
        assert reading.faults == frozenset()
        (replica,) = running.server._fleet._living[0][1]._replicas.all  # type: ignore[attr-defined]
        replica.healthy = False
        reading = await watchman(running).read()
        assert reading is not None
        assert reading.faults == {"engine"}


async def test_a_search_is_no_miss_where_there_was_nothing_to_gain_or_nothing_is_known(tmp_path: Path) -> None:
    async with watched(tmp_path) as (running, _, _up):
        before = watchman(running).series.chr(time.time(), 60)
        for verdict, declined in (("kept", "cached"), ("lost", ""), ("failed", ""), ("gone", "")):
            watchman(running).reuse(Reuse("e", "c", "u", verdict, "", "d", "R101", declined=declined))
        assert watchman(running).series.chr(time.time(), 60) == before
        watchman(running).reuse(Reuse("e", "c", "u", "kept", "", "d", "R101", declined="no_match"))
        after = watchman(running).series.chr(time.time(), 60)
        assert before is not None
        assert after is not None
        assert after.count == before.count + 1


async def test_what_is_out_of_date_is_forgotten(tmp_path: Path) -> None:
    async with watched(tmp_path) as (running, engine, _):
        await running.chat(LONG)
        await settled(running, made=1)
        running.server._pipeline.under_way += 1
        await running.chat(LONG)
        await until(lambda: len(watchman(running)._waiting) == 1)
        watchman(running).forget("R101")
        assert len(pairs(running)) == len(watchman(running)._waiting) == 1
        watchman(running).forget("accepted")
        assert pairs(running) == []
        await settled(running, made=1, outdated=1)
        running.server._pipeline.under_way -= 1
        await running.chat(LONG)
        await settled(running, made=2, outdated=1)
        watchman(running).forget("")
        assert pairs(running) == []
        assert len(engine.heard) >= 7


@pytest.mark.parametrize("reason", ["accepted", ""])
async def test_a_repeat_that_is_under_way_then_does_not_count(tmp_path: Path, reason: str) -> None:
    async with watched(tmp_path) as (running, engine, _):
        engine.pause = 0.3
        await running.chat(LONG)
        await until(lambda: watchman(running)._repeated is not None)
        watchman(running).forget("R101" if reason else reason)
        watchman(running).forget(reason)
        await settled(running, outdated=1)
        assert pairs(running) == []


async def test_a_code_that_is_tried_again_is_measured_as_often_as_can_be(tmp_path: Path) -> None:
    async with watched(tmp_path, {"rate": 1e-9}) as (running, engine, _):
        await running.chat(LONG)
        await until(lambda: len(engine.heard) == 2)
        watchman(running)._tried = lambda: frozenset({"R101"})
        await running.chat(LONG)  # its donor is of another code
        await until(lambda: len(engine.heard) == 3)
        watchman(running)._tried = lambda: frozenset({"accepted"})
        await running.chat(LONG)
        await settled(running, made=1)


async def test_it_is_switched_off_and_on_by_the_files(tmp_path: Path) -> None:
    async with watched(tmp_path) as (running, engine, up):
        watch = watchman(running)
        main = tmp_path / "gateway.yaml"
        words = main.read_text()
        main.write_text(words.replace("watch: watch.yaml\n", ""))
        await until(lambda: not watch._tasks, 5)
        assert await watch.read() is None
        await running.chat(LONG)
        await until(lambda: len(engine.heard) == 2)
        await asyncio.sleep(0.05)
        assert len(up.calls) == 2
        main.write_text(words)
        await until(lambda: watch._tasks, 5)
        await running.chat(LONG)
        await settled(running, made=1)
        figures = watch.series
        (tmp_path / "watch.yaml").write_text(yaml.safe_dump({"shadow": ALL, "figures": {"confidence": 0.9}}))
        await until(lambda: watch.series is not figures, 5)
        assert watch.series.confidence == 0.9


def test_a_figure_is_what_metrics_take() -> None:
    assert Figure(1.0, 0.5, 1.5, 7)[3] == 7
