"""The state file: whole or as it was, one writer at a time, never written over what can't be read."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gateway.errors import ConfigFault
from gateway.rules import Inject
from gateway.watch import register
from gateway.watch.versions import Entry, PolicyFile, Wanted, settle

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
WANTED = Wanted({"R203": Inject(mode="splice")}, {"R203": {"one": "R203 a-x"}})
STATE = settle(WANTED, PolicyFile(), NOON).state


def write(path: Path, state: PolicyFile) -> None:
    register.change(path, lambda _known: (state, None))


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = tmp_path / "policies.yaml"
    assert register.read(path) is None
    write(path, STATE)
    assert register.read(path) == STATE
    assert path.read_text().startswith("# Which rules each policy")
    assert "mode: splice" in path.read_text()
    stamp = path.stat().st_mtime_ns
    write(path, STATE)
    assert path.stat().st_mtime_ns == stamp


def test_two_that_change_it_at_once_both_have_their_say(tmp_path: Path) -> None:
    path = tmp_path / "policies.yaml"

    def add(code: str) -> None:
        def step(known: PolicyFile) -> tuple[PolicyFile, None]:
            return PolicyFile(codes={**known.codes, code: STATE.codes["R203"]}), None

        register.change(path, step)

    workers = [threading.Thread(target=add, args=(f"R{number}",)) for number in range(200, 216)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    found = register.read(path)
    assert found is not None
    assert len(found.codes) == 16


@pytest.mark.parametrize("text", ["", "codes: [", "codes: {R203: {why: guess}}\n", "codes: {X: {}}\n", "\0"])
def test_a_broken_one_is_told_of_and_never_written_over(tmp_path: Path, text: str) -> None:
    path = tmp_path / "policies.yaml"
    path.write_text(text)
    with pytest.raises(ConfigFault, match=r"policies\.yaml"):
        register.read(path)
    with pytest.raises(ConfigFault):
        write(path, STATE)
    assert path.read_text() == text
    standing = register.standing(path, WANTED, None, NOON)
    assert (standing.policies["R203"].mode, bool(standing.fault)) == ("none", True)
    with pytest.raises(ConfigFault):
        register.standing(path, WANTED, STATE, NOON)


def test_a_missing_one_takes_nothing_from_who_knows(tmp_path: Path) -> None:
    other = Wanted(WANTED.policies, {"R203": {"one": "R203 b-x"}})
    assert register.standing(tmp_path / "none.yaml", other, None, NOON).unconfirmed == {}
    assert set(register.standing(tmp_path / "none.yaml", other, STATE, NOON).unconfirmed) == {"R203"}


def test_where_nobody_may_write_nothing_is_lost(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        write(tmp_path / "nowhere" / "policies.yaml", STATE)
    path = tmp_path / "policies.yaml"
    write(path, STATE)
    (tmp_path / "policies.yaml.lock").unlink()
    (tmp_path / "policies.yaml.lock").mkdir()
    changed = {"R203": Entry.model_validate({**STATE.codes["R203"].model_dump(), "why": "by hand"})}
    with pytest.raises(OSError, match="directory"):
        write(path, PolicyFile(codes=changed))
    assert register.read(path) == STATE
