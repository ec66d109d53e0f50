"""What trials have shown outlives the process that saw it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.rules import Inject
from gateway.watch.evidence import SAVED, Evidences, read
from gateway.watch.pairs import Pair
from gateway.watch.trying import Trying
from gateway.watch.versions import PolicyFile, Standing, Wanted, settle

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


def standing(old: Inject, new: Inject) -> Standing:
    known = settle(Wanted({"R203": old}, {}, 0.1), PolicyFile(), NOON).state
    return settle(Wanted({"R203": new}, {}, 0.1), known, NOON)


TRIAL = standing(Inject(), Inject(mode="splice"))
KEY = TRIAL.trials["R203"].key


def filled(path_of: Standing = TRIAL) -> Evidences:
    evidences = Evidences()
    evidences.follow(path_of)
    seen = evidences.of(KEY)
    assert seen is not None
    seen.add(Pair(1.0, "R203", "new", "splice", (0.5, 1.0), (1.0, 2.0), True, 0.9), Trying())
    seen.visit("now", True)
    seen.looks["left"], seen.chance["left"] = 1, 0.5
    seen.shown.append("late")
    return evidences


async def test_what_was_seen_is_there_after_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "evidence"
    before = filled()
    await before.save(path, None)
    after = Evidences()
    after.follow(TRIAL)
    await after.load(path)
    assert after.of(KEY) == before.of(KEY)
    assert read(path).keys() == {KEY}


async def test_it_is_put_away_now_and_then_and_only_if_it_is_new(tmp_path: Path) -> None:
    path = tmp_path / "evidence"
    evidences = filled()
    await evidences.save(path, 1000.0)
    path.unlink()
    await evidences.save(path, 1000.0 + SAVED / 2)
    await evidences.save(path, 1000.0 + SAVED)
    assert not path.exists()
    seen = evidences.of(KEY)
    assert seen is not None
    seen.visit("new", False)
    await evidences.save(path, 1000.0 + 2 * SAVED)
    assert path.exists()


async def test_another_trial_begins_with_nothing(tmp_path: Path) -> None:
    path = tmp_path / "evidence"
    await filled().save(path, None)
    other = standing(Inject(), Inject(mode="splice", min_tokens=64))
    evidences = Evidences()
    evidences.follow(other)
    await evidences.load(path)
    assert evidences.of(KEY) is None
    seen = evidences.of(other.trials["R203"].key)
    assert seen is not None
    assert (seen.new.late, seen.idle) == ([], False)
    evidences.follow(standing(Inject(mode="none", capture=False), Inject()))
    assert evidences.of(other.trials["R203"].key) is None


def test_it_is_known_whether_the_old_policy_injects_anything() -> None:
    off = standing(Inject(mode="none", capture=False), Inject())
    evidences = Evidences()
    evidences.follow(off)
    seen = evidences.of(off.trials["R203"].key)
    assert seen is not None
    assert seen.idle


@pytest.mark.parametrize("text", ["", "{", '{"k": 7}', "[]"])
def test_what_can_t_be_read_is_nothing(tmp_path: Path, text: str) -> None:
    path = tmp_path / "evidence"
    path.write_text(text)
    assert read(path) == {}
    assert read(tmp_path / "none") == {}


async def test_where_nobody_may_write_it_goes_on_in_memory(tmp_path: Path) -> None:
    evidences = filled()
    await evidences.save(tmp_path / "nowhere" / "evidence", None)
    seen = evidences.of(KEY)
    assert seen is not None
    assert seen.now.visits == 1
