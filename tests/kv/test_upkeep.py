"""What is out of time goes; what dead processes have left is put in order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.kv._held import HEADER
from gateway.kv._upkeep import MEMORY, Swept
from gateway.kv.nouns import State
from gateway.kv.pool import Pool
from tests.kv.pools import OWNER, RECORD, TOKENS, Clock, block, fill, lying, record, small, sound

NOTHING = Swept()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pool(tmp_path: Path, clock: Clock) -> Iterator[Pool]:
    pool = Pool(small(tmp_path, disk=tmp_path / "disk", disk_size=1 << 20), clock=clock)
    yield pool
    pool.close()


def again(tmp_path: Path, clock: Clock) -> Pool:
    """The next engine's pool; the one before did not say goodbye."""
    return Pool(small(tmp_path, disk=tmp_path / "disk", disk_size=1 << 20), clock=clock)


def state(pool: Pool, id: str) -> State:
    return pool.look(id).state


def test_without_a_verdict_a_capture_goes_when_its_time_is_over(pool: Pool, clock: Clock, tmp_path: Path) -> None:
    fill(pool, "a", 2, kept=False)
    clock.now += 9.9
    assert pool.sweep() == NOTHING
    clock.now += 0.2
    assert pool.sweep() == Swept(expired=1, freed=2 * RECORD)
    assert state(pool, "a") == State.EXPIRED
    assert pool.usage().bytes == 0 == lying(tmp_path / "pool")
    assert pool.sweep() == NOTHING


def test_a_kept_capture_goes_when_its_own_time_is_over(pool: Pool, clock: Clock) -> None:
    fill(pool, "a")
    pool.keep("a", "R203", ttl=20)
    fill(pool, "b")
    clock.now += 21
    assert pool.sweep().expired == 1
    assert (state(pool, "a"), state(pool, "b")) == (State.EXPIRED, State.KEPT)


def test_a_capture_whose_request_runs_is_not_out_of_time(pool: Pool, clock: Clock) -> None:
    pool.begin("a", OWNER, TOKENS, RECORD)
    pool.begin("b", OWNER, TOKENS, RECORD)
    pool.keep("b", "R203", ttl=1)
    clock.now += 1e6
    assert pool.sweep() == NOTHING
    assert pool.put("a", (block("a", 0), record("a", 0)))
    pool.finish("a", {})
    pool.finish("b", {})
    assert pool.sweep() == Swept(expired=1)
    assert state(pool, "a") == State.PENDING


def test_what_is_being_read_goes_when_the_reader_is_done(pool: Pool, clock: Clock, tmp_path: Path) -> None:
    fill(pool, "a")
    with pool.lease("a") as lease:
        clock.now += 1e6
        assert pool.sweep() == Swept(expired=1)
        lease.read(0, bytearray(RECORD))
        assert pool.usage().bytes == RECORD
    assert pool.sweep() == Swept(freed=RECORD)
    assert lying(tmp_path / "pool") == 0


def test_a_name_is_remembered_for_a_while(pool: Pool, clock: Clock) -> None:
    fill(pool, "a")
    pool.drop("a")
    clock.now += MEMORY - 1
    assert pool.sweep() == NOTHING
    assert not pool.begin("a", OWNER, TOKENS, RECORD)
    clock.now += 2
    assert pool.sweep() == Swept(forgotten=1)
    assert pool.begin("a", OWNER, TOKENS, RECORD)


def test_a_capture_whose_writer_died_waits_for_its_verdict(pool: Pool, clock: Clock, tmp_path: Path) -> None:
    for id in ("a", "b"):
        pool.begin(id, OWNER, TOKENS, RECORD)
        for index in range(2):
            pool.put(id, (block(id, index), record(id, index)))
    pool.keep("b", "R203")
    clock.now += 50
    later = again(tmp_path, clock)
    assert later.recover() == Swept(closed=2)
    assert later.recover() == NOTHING
    assert not later.begin("a", OWNER, TOKENS, RECORD)
    assert not later.put("a", (block("a", 2), record("a", 2)))
    assert sound(later, "b")
    clock.now += 9
    later.keep("a", "R203")
    assert sound(later, "a")
    later.close()


def test_what_was_kept_is_there_after_a_restart(pool: Pool, clock: Clock, tmp_path: Path) -> None:
    fill(pool, "a", 3)
    pool.close()
    later = again(tmp_path, clock)
    assert later.recover() == NOTHING
    assert sound(later, "a")
    assert later.find("a") == pool.find("a")
    later.close()


def test_a_record_that_was_not_published_is_cut_off(pool: Pool, clock: Clock, tmp_path: Path) -> None:
    pool.begin("a", OWNER, TOKENS, RECORD)
    pool.put("a", (block("a", 0), record("a", 0)))
    path = tmp_path / "pool" / "a.kv"
    path.write_bytes(path.read_bytes() + b"half a rec")
    pool.begin("b", OWNER, TOKENS, RECORD)
    (tmp_path / "pool" / "b.kv").write_bytes(bytes(HEADER) + b"half")
    later = again(tmp_path, clock)
    assert later.recover() == Swept(closed=2, strays=1)
    assert lying(tmp_path / "pool") == RECORD == later.usage().bytes
    later.close()


@pytest.mark.parametrize("harm", ["missing", "short", "another's"])
def test_a_capture_whose_data_is_gone_is_dropped(
    pool: Pool, tmp_path: Path, harm: str, caplog: pytest.LogCaptureFixture
) -> None:
    fill(pool, "a", 2)
    fill(pool, "b", 2)
    path = tmp_path / "pool" / "a.kv"
    data = path.read_bytes()
    path.unlink()
    if harm != "missing":
        path.write_bytes(data[:-1] if harm == "short" else bytes(len(data)))
    assert pool.recover().expired == 1
    assert "a is dropped: its data is gone" in caplog.text
    assert state(pool, "a") == State.EXPIRED
    assert sound(pool, "b")
    assert pool.usage().bytes == lying(tmp_path / "pool") == 2 * RECORD


def test_files_of_no_capture_go_and_others_stay(pool: Pool, tmp_path: Path) -> None:
    fill(pool, "a")
    for name in ("pool/stray.kv", "disk/stray.kv.zst", "disk/a.kv.zst", "disk/half.kv.zst.new"):
        (tmp_path / name).write_bytes(b"x" * 5000)
    for name in ("pool/notes.txt", "disk/notes.txt"):
        (tmp_path / name).write_text("mine")
    assert pool.recover() == Swept(strays=4)
    assert sorted(path.name for path in (tmp_path / "pool").glob("*.*") if "index" not in path.name) == [
        "a.kv",
        "notes.txt",
    ]
    assert [path.name for path in (tmp_path / "disk").iterdir()] == ["notes.txt"]


def test_a_displaced_capture_whose_file_is_gone_is_dropped(pool: Pool, clock: Clock, tmp_path: Path) -> None:
    for id in ("a", "b"):
        fill(pool, id, 4)
        clock.now += 1
    fill(pool, "c", 8)
    assert pool.look("a").on_disk
    assert pool.look("b").on_disk
    (tmp_path / "disk" / "a.kv.zst").unlink()
    assert pool.recover().expired == 1
    assert pool.promote("b")
    assert sound(pool, "b")


def test_without_a_disk_tier_what_lies_there_is_given_up(pool: Pool, clock: Clock, tmp_path: Path) -> None:
    fill(pool, "a", 8)
    clock.now += 1
    fill(pool, "b", 8)
    assert pool.look("a").on_disk
    without = Pool(small(tmp_path), clock=clock)
    assert without.recover().expired == 1
    assert without.usage().disk_bytes == 0
    without.close()


def test_a_damaged_index_is_replaced_at_the_start(pool: Pool, clock: Clock, tmp_path: Path) -> None:
    for number in range(8):
        fill(pool, f"a{number}")
    pool.close()
    with (tmp_path / "pool" / "index.db").open("r+b") as file:
        file.seek(4096 * 3)
        file.write(b"\xff" * 4096 * 40)
    later = again(tmp_path, clock)
    later.recover()
    assert later.entries(10) == []
    assert lying(tmp_path / "pool") == 0
    fill(later, "b")
    assert sound(later, "b")
    assert sound(pool, "b"), "who had it open follows"
    later.close()
