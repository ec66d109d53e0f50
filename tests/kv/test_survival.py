"""What becomes of a pool that is full, damaged, taken away, used by many at once, or whose writer is killed."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from gateway.kv.nouns import State
from gateway.kv.pool import Gone, Pool, Torn, UnknownCapture
from tests.kv.pools import OWNER, RECORD, TOKENS, Clock, block, fill, known, lying, record, small, sound


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pool(tmp_path: Path, clock: Clock) -> Iterator[Pool]:
    pool = Pool(small(tmp_path), clock=clock)
    yield pool
    pool.close()


def test_a_full_disk_costs_the_capture_and_nothing_else(
    tmp_path: Path, clock: Clock, request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture
) -> None:
    pool = Pool(small(tmp_path, size=8 << 20), clock=clock)
    half = 600 << 10
    fill(pool, "other")
    for id in ("a", "b"):
        assert pool.begin(id, OWNER, TOKENS, half)
        assert pool.put(id, (block(id, 0, half), record(id, 0, half)))
    request.getfixturevalue("small_files")
    for id in ("a", "b"):
        assert not pool.put(id, (block(id, 1, half), record(id, 1, half)))
        assert known(pool, id).state == State.EXPIRED
        assert not pool.put(id, (block(id, 1, half), record(id, 1, half)))
        pool.finish(id, {})
    assert pool.usage().bytes == RECORD == lying(tmp_path / "pool")
    assert sound(pool, "other")
    assert caplog.text.count("failed at") == 1, "told once a minute"
    clock.now += 61
    assert pool.begin("c", OWNER, TOKENS, 2 << 20)
    assert not pool.put("c", (block("c", 0, 2 << 20), record("c", 0, 2 << 20)))
    assert caplog.text.count("failed at") == 2
    pool.close()


def test_an_index_that_cannot_be_written_is_no_reason_to_raise(pool: Pool, tmp_path: Path) -> None:
    fill(pool, "other")
    pool.begin("a", OWNER, TOKENS, RECORD)
    assert pool.put("a", (block("a", 0), record("a", 0)))
    with sqlite3.connect(tmp_path / "pool" / "index.db") as harm:
        for event in ("INSERT", "UPDATE"):
            harm.execute(
                f"CREATE TRIGGER full_{event} BEFORE {event} ON captures BEGIN SELECT RAISE(ABORT, 'no room'); END"
            )
    harm.close()
    assert not pool.begin("b", OWNER, TOKENS, RECORD)
    assert not pool.put("a", (block("a", 1), record("a", 1)))
    pool.finish("a", {})
    pool.finish("c", {})
    with sqlite3.connect(tmp_path / "pool" / "index.db") as mend:
        for event in ("INSERT", "UPDATE"):
            mend.execute(f"DROP TRIGGER full_{event}")
    mend.close()
    assert known(pool, "a").tokens == block("a", 0).tokens, "what was published stands"
    assert pool.put("a", (block("a", 1), record("a", 1))), "and goes on where it was"
    pool.keep("a", "R203")
    assert sound(pool, "a")


def test_a_pool_that_vanishes_is_begun_anew(pool: Pool, tmp_path: Path) -> None:
    fill(pool, "a")
    pool.begin("b", OWNER, TOKENS, RECORD)
    lease = pool.lease("a")
    for path in (tmp_path / "pool").iterdir():
        path.unlink()
    (tmp_path / "pool").rmdir()
    lease.read(0, bytearray(RECORD))
    lease.close()
    assert not pool.put("b", (block("b", 0), record("b", 0)))
    assert pool.find("a") is None
    with pytest.raises(UnknownCapture):
        pool.lease("a")
    fill(pool, "c")
    assert sound(pool, "c")


def test_a_file_that_vanishes_is_a_capture_that_is_gone(pool: Pool, tmp_path: Path) -> None:
    fill(pool, "a")
    (tmp_path / "pool" / "a.kv").unlink()
    with pytest.raises(Gone):
        pool.lease("a")
    pool.drop("a")


def test_a_record_that_was_changed_is_torn(pool: Pool, tmp_path: Path) -> None:
    fill(pool, "a")
    path = tmp_path / "pool" / "a.kv"
    path.write_bytes(path.read_bytes()[:-1] + b"\0")
    with pool.lease("a") as lease, pytest.raises(Torn):
        lease.read(0, bytearray(RECORD))


def test_a_damaged_pool_is_begun_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = Pool(small(tmp_path))
    fill(first, "a")
    first.close()
    (tmp_path / "pool" / "index.db").write_bytes(b"no database")
    pool = Pool(small(tmp_path))
    assert pool.entries(9) == []
    assert lying(tmp_path / "pool") == 0
    assert "starting with an empty pool" in caplog.text
    fill(pool, "a")
    assert sound(pool, "a")
    pool.close()


@pytest.mark.long
def test_ten_thousand_captures_are_accounted_to_the_byte(memory: Path) -> None:
    """As many as there is room for, then some more that each displace another one."""
    pool = Pool(small(memory, 10_000))
    for number in range(10_300):
        id = f"c{number}"
        assert pool.begin(id, OWNER, TOKENS, RECORD)
        assert pool.put(id, (block("same", 0), record("same", 0)))
        pool.finish(id, {})
        if number in (9_999, 10_099):
            assert pool.usage().bytes == 10_000 * RECORD == lying(memory / "pool")
    pool.keep("c300", "R203")
    usage = pool.usage()
    assert usage.bytes == lying(memory / "pool") == usage.size
    assert usage.entries == {State.KEPT: 1, State.PENDING: 9_999, State.ACTIVE: 0, State.EXPIRED: 300}
    assert [known(pool, id).state for id in ("c0", "c299", "c301")] == [State.EXPIRED, State.EXPIRED, State.PENDING]
    pool.close()


def judge(pool: Pool) -> None:
    """Keep what waits; it may be gone by then."""
    for entry in pool.entries(6, State.PENDING):
        with suppress(Gone):
            pool.keep(entry.id, "R203")
    pool.sweep()


def read(pool: Pool) -> None:
    """Some of what is kept; it may be gone by then, but never wrong."""
    for entry in pool.entries(6, State.KEPT):
        with suppress(Gone):
            assert sound(pool, entry.id)


def write(pool: Pool, name: str) -> None:
    for number in range(60):
        id = f"{name}{number}"
        pool.begin(id, OWNER, TOKENS, RECORD)
        for index in range(3):
            pool.put(id, (block(id, index), record(id, index)))
        pool.finish(id, {})


def test_many_at_once(tmp_path: Path) -> None:
    """Two writers, a reader and whoever gives verdicts, over two pools of the same folder."""
    writer, other = Pool(small(tmp_path, 20)), Pool(small(tmp_path, 20))
    over = threading.Event()

    def go_on(work: Callable[[Pool], None]) -> None:
        while not over.is_set():
            work(other)

    with ThreadPoolExecutor() as threads:
        rest = [threads.submit(go_on, work) for work in (judge, read)]
        written = [threads.submit(write, writer, name) for name in ("a", "b")]
        for ended in written:
            ended.exception()
        over.set()
        for ended in (*written, *rest):
            ended.result()
    other.sweep()
    usage = writer.usage()
    assert usage.bytes == lying(tmp_path / "pool") <= usage.size
    writer.close()
    other.close()


@pytest.mark.long
def test_a_writer_may_be_killed_at_any_instant(memory: Path) -> None:
    """No torn entry, no byte that is not accounted for, nothing left over: thirty times, on the same folder."""
    chance = random.Random(20)
    seen = 0
    for seed in range(30):
        command = [sys.executable, "-m", "tests.kv.writer", str(memory), str(seed)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(chance.random() * 0.05)
            process.send_signal(signal.SIGKILL)
            assert process.wait() == -signal.SIGKILL, "it died of something else"
        pool = Pool(small(memory, 24, disk=memory / "disk", disk_size=16 << 10, hold=1e6, ttl=1e6))
        living = [entry for entry in pool.entries(10_000) if entry.state != State.EXPIRED]
        pool.recover()
        for before in living:
            now = pool.look(before.id)
            assert now.state != State.EXPIRED, "what was published is lost"
            assert now.tokens == before.tokens
            if now.blocks and not now.on_disk:
                pool.keep(now.id, now.reason)
                assert sound(pool, now.id)
                seen += now.blocks
        assert pool.recover()[:3] == (0, 0, 0)
        in_order(pool, memory)
        pool.close()
    assert seen > 100, "the writers did not get far enough to prove anything"


def in_order(pool: Pool, folder: Path) -> None:
    usage = pool.usage()
    living = [entry for entry in pool.entries(10_000) if entry.state != State.EXPIRED]
    in_memory = {entry.id for entry in living if entry.blocks and not entry.on_disk}
    assert {path.stem for path in (folder / "pool").glob("*.kv")} == in_memory
    assert usage.bytes == lying(folder / "pool") == sum(entry.bytes for entry in living if not entry.on_disk)
    assert usage.bytes <= usage.size
    on_disk = {f"{entry.id}.kv.zst" for entry in living if entry.on_disk}
    assert {path.name for path in (folder / "disk").iterdir()} == on_disk
    assert usage.disk_bytes == sum(path.stat().st_size for path in (folder / "disk").iterdir()) <= 16 << 10
