"""Who makes way for whom, and what becomes of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.kv import _schema as schema
from gateway.kv._database import Database
from gateway.kv._disk import Disk
from gateway.kv._files import Files
from gateway.kv._held import HEADER, Claim, Torn
from gateway.kv._room import Room
from gateway.kv.nouns import State
from gateway.kv.pool import Gone, Pool
from tests.kv.pools import OWNER, RECORD, TOKENS, Clock, block, fill, lying, record, small, sound

PLENTY = 1 << 20


class Rig:
    """A pool with a clock that ticks with each capture, so that none is as old as another."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = Clock()
        self.pools: list[Pool] = []

    def open(self, records: int = 4, **others: Any) -> Pool:
        self.pools.append(Pool(small(self.folder, records, **others), clock=self.clock))
        return self.pools[-1]

    def fill(self, id: str, blocks: int = 1, **others: Any) -> None:
        self.clock.now += 0.01
        fill(self.pools[-1], id, blocks, **others)

    def states(self) -> dict[str, str]:
        """What became of each: its state, and where it lies if it is kept."""
        return {
            entry.id: "disk" if entry.on_disk and entry.state == State.KEPT else entry.state.value
            for entry in reversed(self.pools[-1].entries(100))
        }

    def in_order(self) -> bool:
        """Each tier holds what it is said to hold, within its bound."""
        usage = self.pools[-1].usage()
        disk = self.folder / "disk"
        on_disk = sum(path.stat().st_size for path in disk.iterdir()) if disk.exists() else 0
        return usage.bytes == lying(self.folder / "pool") <= usage.size and usage.disk_bytes == on_disk


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    rig = Rig(tmp_path)
    yield rig
    assert rig.in_order()
    for pool in rig.pools:
        pool.close()


def test_what_waits_for_a_verdict_makes_way_before_what_was_kept_the_oldest_first(rig: Rig) -> None:
    rig.open(4)
    rig.fill("kept")
    rig.fill("waits1", kept=False)
    rig.fill("waits2", kept=False)
    rig.fill("new", 2)
    assert rig.states() == {"kept": "kept", "waits1": "expired", "waits2": "pending", "new": "kept"}
    rig.fill("newer", 2)
    assert rig.states() == {"kept": "expired", "waits1": "expired", "waits2": "expired", "new": "kept", "newer": "kept"}


def test_what_was_kept_makes_way_by_priority_then_by_its_last_use(rig: Rig) -> None:
    pool = rig.open(4)
    rig.fill("dear", priority=1)
    for id in ("a", "b", "c"):
        rig.fill(id)
    rig.clock.now += 1
    pool.lease("a").close()
    rig.fill("d", 2)
    assert rig.states() == {"dear": "kept", "a": "kept", "b": "expired", "c": "expired", "d": "kept"}
    rig.fill("e", 2, priority=1)
    assert rig.states() == {"dear": "kept", "a": "expired", "b": "expired", "c": "expired", "d": "expired", "e": "kept"}


def test_what_is_being_read_or_written_never_makes_way(rig: Rig) -> None:
    pool = rig.open(3)
    rig.fill("read")
    pool.begin("written", OWNER, TOKENS, RECORD)
    assert pool.put("written", (block("written", 0), record("written", 0)))
    pool.keep("written", "R203")
    with pool.lease("read") as lease:
        rig.fill("other")
        rig.fill("new")
        assert rig.states() == {"read": "active", "written": "kept", "other": "expired", "new": "kept"}
        with pool.lease("new"):
            assert pool.begin("late", OWNER, TOKENS, RECORD)
            assert not pool.put("late", (block("late", 0), record("late", 0)))
            assert not pool.put("written", (block("written", 1), record("written", 1)))
        into = bytearray(RECORD)
        lease.read(0, into)
        assert into == record("read", 0)
    assert pool.put("late", (block("late", 0), record("late", 0)))
    assert rig.states()["read"] == "expired"


def test_what_is_left_of_one_that_was_read_when_it_was_dropped_goes_first(rig: Rig) -> None:
    pool = rig.open(2)
    rig.fill("waits", kept=False)
    rig.fill("dropped")
    with pool.lease("dropped") as lease:
        pool.drop("dropped")
        lease.read(0, bytearray(RECORD))
        assert pool.usage().bytes == 2 * RECORD == lying(rig.folder / "pool")
    rig.fill("new")
    assert rig.states() == {"waits": "pending", "dropped": "expired", "new": "kept"}


def test_what_can_never_fit_evicts_nobody(rig: Rig) -> None:
    pool = rig.open(2)
    rig.fill("kept", 2)
    assert pool.begin("huge", OWNER, TOKENS, 3 * RECORD)
    assert not pool.put("huge", (block("huge", 0), record("huge", 0, 3 * RECORD)))
    assert rig.states()["kept"] == "kept"


def test_a_kept_capture_goes_to_disk_and_comes_back(rig: Rig) -> None:
    pool = rig.open(2, disk=rig.folder / "disk", disk_size=PLENTY)
    rig.fill("waits", kept=False)
    rig.fill("a")
    rig.fill("b")
    rig.fill("c")
    assert rig.states() == {"waits": "expired", "a": "disk", "b": "kept", "c": "kept"}
    found = pool.find("a")
    assert found is not None
    assert found.tokens == block("a", 0).tokens
    assert rig.in_order()
    rig.clock.now += 1
    assert pool.promote("a")
    assert sound(pool, "a")
    assert rig.states() == {"waits": "expired", "a": "kept", "b": "disk", "c": "kept"}
    assert pool.promote("a"), "once more changes nothing"
    rig.clock.now += 1
    assert pool.promote("b")
    assert sound(pool, "b")
    assert rig.states()["c"] == "disk"


def test_only_what_is_kept_can_be_brought_back(rig: Rig) -> None:
    pool = rig.open(4, disk=rig.folder / "disk", disk_size=PLENTY)
    rig.fill("waits", kept=False)
    rig.fill("dropped")
    pool.drop("dropped")
    assert [pool.promote(id) for id in ("waits", "dropped", "unknown")] == [False] * 3


def test_the_disk_has_a_bound_too_and_who_is_worth_more_stays(rig: Rig) -> None:
    """One is counted at the most it could take while it is being written, then at what it took: a fraction here."""
    room_for_two = HEADER + RECORD + 16 + 1024 + 120
    pool = rig.open(1, disk=rig.folder / "disk", disk_size=room_for_two)
    rig.fill("dear", priority=1)
    for id in ("a", "b", "c", "d"):
        rig.fill(id)
        assert rig.in_order()
        assert pool.usage().disk_bytes <= room_for_two
    assert rig.states() == {"dear": "disk", "a": "expired", "b": "expired", "c": "disk", "d": "kept"}


def test_one_that_is_worth_less_than_all_on_disk_is_not_moved_there(rig: Rig) -> None:
    pool = rig.open(1, disk=rig.folder / "disk", disk_size=1024 + 17 + HEADER + RECORD)
    rig.fill("dear", priority=2)
    rig.fill("cheap", priority=1)
    assert rig.states() == {"dear": "disk", "cheap": "kept"}
    rig.fill("next", priority=1)
    assert rig.states() == {"dear": "disk", "cheap": "expired", "next": "kept"}
    pool.keep("next", "R203", priority=3)
    rig.fill("last")
    assert rig.states() == {"dear": "expired", "cheap": "expired", "next": "disk", "last": "kept"}


def test_what_is_too_large_for_the_disk_is_gone(rig: Rig) -> None:
    rig.open(1, disk=rig.folder / "disk", disk_size=100)
    rig.fill("a")
    rig.fill("b")
    assert rig.states() == {"a": "expired", "b": "kept"}


def test_a_disk_that_fails_costs_the_capture_and_nothing_else(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    rig.open(1, disk=rig.folder / "disk", disk_size=PLENTY)
    rig.fill("a")
    (rig.folder / "disk").rmdir()
    rig.fill("b")
    assert rig.states() == {"a": "expired", "b": "kept"}
    assert "could not be moved to disk" in caplog.text


def test_one_that_comes_back_torn_is_dropped(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    pool = rig.open(1, disk=rig.folder / "disk", disk_size=PLENTY)
    rig.fill("a")
    rig.fill("b")
    path = rig.folder / "disk" / "a.kv.zst"
    size = path.stat().st_size
    path.write_bytes(b"x" * size)
    assert not pool.promote("a")
    assert rig.states()["a"] == "expired"
    assert "a is dropped" in caplog.text
    assert not path.exists()


def test_one_that_can_t_be_written_back_stays_on_disk(rig: Rig, request: pytest.FixtureRequest) -> None:
    pool = rig.open(2, disk=rig.folder / "disk", disk_size=16 << 20, size=5 << 20)
    big = 3 << 20
    for id in ("a", "b"):
        assert pool.begin(id, OWNER, TOKENS, big)
        assert pool.put(id, (block(id, 0, big), record(id, 0, big)))
        pool.finish(id, {})
        pool.keep(id, "R203")
    assert rig.states()["a"] == "disk"
    request.getfixturevalue("small_files")
    assert not pool.promote("a")
    assert rig.states()["a"] == "disk"


def test_a_move_that_cannot_be_made_room_for_leaves_all_as_it_was(rig: Rig) -> None:
    pool = rig.open(2, disk=rig.folder / "disk", disk_size=PLENTY)
    rig.fill("a")
    rig.fill("b", 2)
    with pool.lease("b"):
        assert not pool.promote("a")
    assert rig.states() == {"a": "disk", "b": "kept"}
    assert pool.promote("a")


def test_a_displaced_capture_that_is_dropped_leaves_the_disk(rig: Rig) -> None:
    pool = rig.open(1, disk=rig.folder / "disk", disk_size=PLENTY)
    rig.fill("a")
    rig.fill("b")
    pool.drop("a")
    assert pool.usage().disk_bytes == 0
    assert not list((rig.folder / "disk").iterdir())


def test_a_record_that_rots_in_memory_is_noticed_after_its_way_over_the_disk(rig: Rig) -> None:
    pool = rig.open(1, disk=rig.folder / "disk", disk_size=PLENTY)
    rig.fill("a")
    with (rig.folder / "pool" / "a.kv").open("r+b") as file:
        os.pwrite(file.fileno(), b"rot", HEADER)
    rig.fill("b")
    assert pool.promote("a")
    with pool.lease("a") as lease, pytest.raises(Torn):
        lease.read(0, bytearray(RECORD))


class SlowDisk(Disk):
    """Something happens while it works."""

    meanwhile: Callable[[], object] = staticmethod(lambda: None)

    def store(self, id: str, source: int) -> int:
        self.meanwhile()
        return super().store(id, source)

    def load(self, id: str, target: int, size: int) -> None:
        super().load(id, target, size)
        self.meanwhile()


class SlowFiles(Files):
    """Something happens before a file is claimed."""

    meanwhile: Callable[[], object] = staticmethod(lambda: None)

    def claim(self, id: str, *, make: bool = False) -> Claim | None:
        self.meanwhile()
        return super().claim(id, make=make)


class Slow:
    """A room in which things take their time, and a pool that is another process's."""

    def __init__(self, rig: Rig, pool: Pool) -> None:
        settings = small(rig.folder, 1, disk=rig.folder / "disk", disk_size=PLENTY)
        self.files, self.disk = SlowFiles(settings.folder), SlowDisk(rig.folder / "disk")
        self.database = Database(settings.folder, schema.SCHEMA, schema.EDITION, lambda: None)
        self.room = Room(settings, self.database, self.files, self.disk, rig.clock)
        self.pool = pool


@pytest.fixture
def slow(rig: Rig) -> Iterator[Slow]:
    slow = Slow(rig, rig.open(1, disk=rig.folder / "disk", disk_size=PLENTY))
    yield slow
    slow.database.close()


def test_a_verdict_that_comes_while_one_is_about_to_make_way_is_heard(rig: Rig, slow: Slow) -> None:
    rig.fill("a", kept=False)
    verdicts = iter(["R203"])
    slow.files.meanwhile = lambda: [slow.pool.keep("a", reason) for reason in verdicts]
    assert not slow.room.make(RECORD)
    assert rig.states() == {"a": "kept"}
    assert slow.room.make(RECORD)
    assert rig.states() == {"a": "disk"}, "it makes way as what is kept does"


def test_one_that_is_dropped_on_its_way_to_disk_is_gone(rig: Rig, slow: Slow) -> None:
    rig.fill("a")
    slow.disk.meanwhile = lambda: slow.pool.drop("a")
    assert slow.room.make(RECORD)
    assert rig.states() == {"a": "expired"}
    assert slow.pool.usage()[::2] == (0, 0)


def test_one_that_is_dropped_on_its_way_back_is_gone(rig: Rig, slow: Slow) -> None:
    rig.fill("a")
    assert slow.room.make(RECORD)
    slow.disk.meanwhile = lambda: slow.pool.drop("a")
    assert not slow.room.promote("a")
    assert rig.states() == {"a": "expired"}
    assert slow.pool.usage()[::2] == (0, 0)


def test_one_on_its_way_back_is_not_read_nor_moved_by_another(rig: Rig, slow: Slow) -> None:
    rig.fill("a")
    assert slow.room.make(RECORD)
    told: list[object] = []

    def meddle() -> None:
        told.append(slow.pool.promote("a"))
        told.append(slow.pool.sweep().freed)
        slow.pool.begin("b", OWNER, TOKENS, RECORD)
        told.append(slow.pool.put("b", (block("b", 0), record("b", 0))))
        with pytest.raises(Gone):
            slow.pool.lease("a")

    slow.disk.meanwhile = meddle
    assert slow.room.promote("a")
    assert told == [False, 0, 0]
    assert sound(slow.pool, "a")
