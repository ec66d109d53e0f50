"""A bad day in a real gateway, end to end: reuse begins to change answers, the gateway steps back, and returns."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml

from gateway import tuned
from gateway.overlay import EMPTY, Overlay
from gateway.terms import TunedFile
from tests.commands import retrace
from tests.plugin import asked, engine, in_front
from tests.rig import RawUpstream, Running, answers, completion, serving, until
from tests.watch.twice import LONG, Twin, twin

SAME, OTHER = "It can be sent back within 14 days.", "Nobody knows, and who asks is asked to leave."
CONTROL: dict[str, Any] = {
    "mode": "act",
    "consistency": {"low": 0.5, "back": 0.6, "minutes": 0},
    "recovery": {"pause_minutes": 0.0001, "share": 1, "minutes": 0},
}
WATCH: dict[str, Any] = {
    "shadow": {"rate": 1, "tokens_per_hour": 10_000_000, "idle_below": 1},
    "control": CONTROL,
    "every_seconds": 3600,
}


async def asks(running: Running, twin: Twin, times: int = 1) -> None:
    """Clients ask; each time until its engine has said what became of it, and what is measured of it is measured."""
    for _ in range(times):
        heard = len(twin.heard)
        await (await running.chat(LONG)).read()
        await until(lambda heard=heard: len(twin.heard) > heard)  # type: ignore[misc]
        await until(lambda: not running.server.watchman._waiting, 5)
    await until(lambda: not running.server._pipeline.under_way)


async def measured(running: Running, twin: Twin, count: int) -> None:
    """Until so many pairs are there."""
    series = running.server.watchman.series
    async with asyncio.timeout(20):
        while len(series.pairs(0, 1e12)) < count:
            await asks(running, twin)


def donor(up: RawUpstream, start: int) -> Any:
    """What the first client's request after `start` calls was offered."""
    return asked(up.calls[start])["donor"]


@pytest.mark.long
async def test_consistency_falls_all_falls_back_is_mended_comes_back_and_is_taken_back_by_hand(tmp_path: Path) -> None:
    async with twin(tmp_path, WATCH, says=SAME, other=OTHER) as (running, engine_, up):
        server = running.server
        await asks(running, engine_)
        await measured(running, engine_, 12)
        reading = await server.watchman.read()
        assert reading is not None
        assert reading.cs is not None
        assert reading.cs.high < 0.5
        told = await running.metrics()
        assert told['retrace_acts_total{act="fallback",code="",how="done"}'] == 1
        assert told['retrace_hand{what="fallback"}'] == 1
        assert server.watchman.series.pairs(0, 1e12) == []  # they tell of what is in force no more

        calls = len(up.calls)
        await asks(running, engine_)
        assert (donor(up, calls), len(up.calls)) == (None, calls + 1)
        file = tmp_path / "tuned.yaml"
        assert tuned.read(file).hand.fallback is not None
        await until(lambda: server.steward.house.hand.fallback is not None, 5)  # the reload has read it
        async with running.http.get(f"{running.url}/readyz") as ready:
            assert (await ready.json())["controller"]["fallback"] is True

        engine_.other = SAME
        await server.watchman.read()
        assert server.hand.tried == {"accepted"}
        calls = len(up.calls)
        await asks(running, engine_)
        assert donor(up, calls) is not None
        await measured(running, engine_, 15)
        await server.watchman.read()
        assert (server.hand.overlay.idle, server.hand.overlay.fallback) == (True, None)
        assert [act.what for act in server.hand.overlay.acts] == ["fallback", "try", "on", "recover"]

        engine_.other = OTHER
        server.watchman.forget("")
        await measured(running, engine_, 12)
        await server.watchman.read()
        shown = await asyncio.to_thread(retrace, "tune", "--show", "-c", str(tmp_path / "gateway.yaml"))
        assert (shown.returncode, shown.stdout.count("fallback")) == (0, 3), shown.stdout
        assert "below 0.500" in shown.stdout
        reset = await asyncio.to_thread(retrace, "tune", "--reset", "-c", str(tmp_path / "gateway.yaml"))
        assert reset.returncode == 0, reset.stderr
        await until(lambda: server.hand.overlay == EMPTY, 5)
        calls = len(up.calls)
        await asks(running, engine_)
        assert donor(up, calls) is not None
        assert (await running.metrics())['retrace_acts_total{act="reset",code="",how="done"}'] == 1


@pytest.mark.long
async def test_another_process_and_the_next_start_have_it_too(tmp_path: Path) -> None:
    async with twin(tmp_path, WATCH, says=SAME, other=OTHER) as (running, engine_, _up):
        await asks(running, engine_)
        await measured(running, engine_, 12)
        async with serving(tmp_path / "gateway.yaml") as other:
            assert other.server.hand.overlay == EMPTY
            await running.server.watchman.read()
            await until(lambda: other.server.hand.overlay.fallback is not None, 5)
            assert other.server.hand.overlay == running.server.hand.overlay
            assert other.server._pipeline._house().terms.policy("accepted").mode == "none"
    async with serving(tmp_path / "gateway.yaml") as later:
        assert later.server.hand.overlay.fallback is not None


@pytest.mark.long
async def test_observing_changes_nothing(tmp_path: Path) -> None:
    watch = {**WATCH, "control": {**CONTROL, "mode": "observe"}}
    async with twin(tmp_path, watch, says=SAME, other=OTHER) as (running, engine_, up):
        await asks(running, engine_)
        await measured(running, engine_, 12)
        await running.server.watchman.read()
        told = await running.metrics()
        assert told['retrace_acts_total{act="fallback",code="",how="proposed"}'] == 1
        calls = len(up.calls)
        await asks(running, engine_)
        assert donor(up, calls) is not None
    assert tuned.read(tmp_path / "tuned.yaml") == TunedFile()


@pytest.mark.parametrize("how", ["mask", "none"])
async def test_in_the_fallback_what_a_policy_bans_stays_banned_if_so_configured(tmp_path: Path, how: str) -> None:
    hand = Overlay.model_validate({"fallback": 1.0, "how": how})
    tuned.write_hand(tmp_path / "tuned.yaml", hand)
    control = {"mode": "act", "consistency": {"fallback": how}}
    (tmp_path / "watch.yaml").write_text(yaml.safe_dump({"control": control, "every_seconds": 3600}))
    kept = {"capture": "all", "accepted": {"sensitive": "cut", "ban": True}}
    async with (
        engine(answers(completion("fine"))) as (url, up, plugin),
        in_front(tmp_path, [url], [], retrace=kept, watch="watch.yaml") as running,
    ):
        for count in (1, 2):
            await (await running.chat(LONG)).read()
            await until(lambda count=count: len(plugin.heard) == count)  # type: ignore[misc]
        first, second = map(asked, up.calls)
        assert plugin.of(first["capture"]) == ["POST"]  # kept, for when it is tried again
        if how == "mask":
            assert (second["donor"], second["mode"], second["ban"]) == (first["capture"], "none", True)
        else:
            assert (second["donor"], second["mode"]) == (None, "none")
        assert (await running.metrics()).get('retrace_lookups_total{result="donor"}', 0) == 0
