"""Who ends trials, by what he has seen, and what the next one goes on with."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from pathlib import Path

from gateway.rules import Inject
from gateway.watch import evidence
from gateway.watch.pairs import Arm, Pair
from gateway.watch.trying import Trying
from gateway.watch.umpire import Umpire
from gateway.watch.versions import PolicyFile, Standing, Wanted, settle

LONG_AGO = datetime(2026, 5, 1, 12, tzinfo=UTC)


def trial(since: datetime) -> Standing:
    before = settle(Wanted({"R203": Inject()}, {}, 0.5), PolicyFile(), LONG_AGO).state
    return settle(Wanted({"R203": Inject(mode="splice")}, {}, 0.5), before, since)


TRIAL = trial(datetime.now(UTC))
KEY = TRIAL.trials["R203"].key


async def umpire(path: Path, trying: Trying, standing: Standing = TRIAL) -> Umpire:
    made = Umpire()
    await made.move(path)
    made.follow(standing, trying)
    return made


def pair(arm: Arm, number: int, late: float = 0.5) -> Pair:
    return Pair(float(number), "R203", arm, "splice", (late, 1.0), (1.0, 2.0), True, 0.95)


async def test_one_judges_and_the_next_goes_on_with_what_it_saw(tmp_path: Path) -> None:
    path = tmp_path / "policies.yaml"
    first, second = await umpire(path, Trying()), await umpire(path, Trying())
    first.pair(pair("new", 1))
    assert await first.look() is None
    assert await second.look() is None
    assert (first.leads, second.leads) == (True, False)
    await first.let_go()
    assert not first.leads
    assert evidence.read(path.with_name("policies.yaml.evidence")).keys() == {KEY}
    assert await second.look() is None
    assert second.leads
    seen = second._evidence.of(KEY)
    assert seen is not None
    assert len(seen.new.late) == 1
    await second.let_go()


async def test_where_no_lock_can_be_had_each_judges_alone(tmp_path: Path) -> None:
    (tmp_path / "policies.yaml.lead").mkdir()
    one, other = [await umpire(tmp_path / "policies.yaml", Trying()) for _ in range(2)]
    assert [await one.look(), await other.look()] == [None, None]
    assert one.leads
    assert other.leads


async def test_a_trial_that_takes_too_long_ends(tmp_path: Path) -> None:
    one = await umpire(tmp_path / "policies.yaml", Trying(), trial(LONG_AGO))
    ended = await one.look()
    assert ended is not None
    assert (ended.code, ended.policy.mode, ended.verdict.what) == ("R203", "splice", "turned_back")
    await one.let_go()


async def test_where_nothing_is_tried_nobody_leads(tmp_path: Path) -> None:
    one = await umpire(tmp_path / "policies.yaml", Trying(), settle(Wanted(), PolicyFile(), LONG_AGO))
    one.pair(pair("new", 1))
    assert await one.look() is None
    assert not one.leads
    assert os.listdir(tmp_path) == []


async def test_visits_count_once_they_are_over(tmp_path: Path) -> None:
    one = await umpire(tmp_path / "policies.yaml", Trying(visit_minutes=10))
    now = time.time()
    one.seen(b"over", {KEY: "new"}, True, now - 601)
    one.seen(b"under way", {KEY: "new"}, True, now)
    assert await one.look() is None
    seen = one._evidence.of(KEY)
    assert seen is not None
    assert (seen.new.visits, seen.new.left) == (1, 1)
    await one.let_go()


async def test_another_state_file_has_evidence_of_its_own(tmp_path: Path) -> None:
    one = await umpire(tmp_path / "policies.yaml", Trying())
    one.pair(pair("new", 1))
    assert await one.look() is None
    await one.move(tmp_path / "others.yaml")
    one.follow(TRIAL, Trying())
    seen = one._evidence.of(KEY)
    assert seen is not None
    assert not seen.new.late
    assert not one.leads
    assert (tmp_path / "policies.yaml.evidence").exists()
