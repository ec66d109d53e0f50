"""The pool as its users see it: writers, verdicts, readers; and what must hold whatever becomes of them."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.kv.nouns import OPEN_END, Entry, Owner, State
from gateway.kv.pool import Gone, Pool, UnknownCapture
from gateway.kv.settings import Settings
from tests.kv.pools import OWNER, RECORD, TOKENS, Clock, block, fill, known, lying, record, small, sound


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pool(tmp_path: Path, clock: Clock) -> Iterator[Pool]:
    pool = Pool(small(tmp_path), clock=clock)
    yield pool
    usage = pool.usage()
    assert usage.bytes == lying(tmp_path / "pool") <= usage.size
    pool.close()


def test_a_capture_from_its_first_block_to_its_verdict(pool: Pool, clock: Clock) -> None:
    assert pool.find("a") is None
    assert pool.begin("a", OWNER, TOKENS, RECORD, prompt_tokens=6)
    clock.now += 1
    for index in range(3):
        assert pool.put("a", (block("a", index, holes=index), record("a", index)))
        assert known(pool, "a").blocks == index + 1
    pool.finish("a", {"captured_tokens": 12})
    assert pool.find("a") == Entry(
        id="a",
        owner=OWNER,
        state=State.PENDING,
        block_size=TOKENS,
        record_bytes=RECORD,
        tokens=tuple(token for index in range(3) for token in block("a", index).tokens),
        holes=(0, 1, 2),
        prompt_tokens=6,
        created=1000.0,
        expires=1011.0,
        report={"captured_tokens": 12},
    )
    kept = pool.keep("a", "R101", [(3, 5), (4, 7)], output_sensitive=True, ttl=50, priority=2)
    assert kept == known(pool, "a") == pool.look("a")
    assert (kept.state, kept.reason, kept.priority, kept.expires) == (State.KEPT, "R101", 2, 1051.0)
    assert kept.sensitive == ((3, OPEN_END),)
    assert sound(pool, "a")
    assert pool.usage().bytes == 3 * RECORD == kept.bytes
    dropped = pool.drop("a")
    assert (dropped.state, dropped.tokens, dropped.bytes) == (State.EXPIRED, (), 0)
    assert dropped.report == {"captured_tokens": 12}
    assert pool.usage().bytes == 0


def test_everything_may_be_said_twice(pool: Pool, clock: Clock) -> None:
    for _ in range(2):
        assert pool.begin("a", OWNER, TOKENS, RECORD)
        assert pool.put("a", (block("a", 0), record("a", 0)))
    pool.put("a", (block("a", 1), record("a", 1)))
    assert pool.put("a", (block("a", 0), record("a", 0))), "a request that starts over brings them again"
    pool.finish("a", {"n": 1})
    clock.now += 5
    pool.finish("a", {"n": 1})
    assert known(pool, "a").expires == 1010.0, "its time began when it was over"
    assert pool.keep("a", "R203", [(1, 2)]) == pool.keep("a", "R203", [(1, 2)])
    assert pool.drop("a") == pool.drop("a")


def test_blocks_come_in_order(pool: Pool) -> None:
    pool.begin("a", OWNER, TOKENS, RECORD)
    assert not pool.put("a", (block("a", 1), record("a", 1)))
    assert pool.put("a", (block("a", 0), record("a", 0)))
    assert not pool.put("a", (block("a", 2), record("a", 2)))
    assert not pool.put("a", (block("b", 0), record("b", 0))), "another block in the place of one that is published"
    assert known(pool, "a").tokens == block("a", 0).tokens


def test_a_name_serves_one_request(pool: Pool) -> None:
    fill(pool, "over")
    assert not pool.begin("over", OWNER, TOKENS, RECORD)
    assert not pool.put("over", (block("over", 1), record("over", 1)))
    pool.begin("dropped", OWNER, TOKENS, RECORD)
    pool.drop("dropped")
    assert not pool.begin("dropped", OWNER, TOKENS, RECORD)
    assert not pool.put("dropped", (block("dropped", 0), record("dropped", 0)))
    pool.begin("mine", OWNER, TOKENS, RECORD)
    assert not pool.begin("mine", Owner("other", "", "fingerprint"), TOKENS, RECORD)
    assert not pool.put("unknown", (block("unknown", 0), record("unknown", 0)))


def test_a_request_that_was_not_captured_leaves_its_report(pool: Pool, clock: Clock) -> None:
    pool.finish("a", {"declined": "tenant"})
    found = known(pool, "a")
    assert (found.report, found.blocks, found.state, found.expires) == (
        {"declined": "tenant"},
        0,
        State.PENDING,
        1010.0,
    )
    assert not pool.begin("a", OWNER, TOKENS, RECORD)
    assert pool.keep("a", "R203").bytes == 0


def test_a_verdict_may_come_while_the_request_runs(pool: Pool) -> None:
    pool.begin("a", OWNER, TOKENS, RECORD, prompt_tokens=4)
    pool.keep("a", "R203", [(0, 1)], output_sensitive=True)
    for index in range(2):
        assert pool.put("a", (block("a", index), record("a", index)))
        assert sound(pool, "a")
    pool.finish("a", {})
    assert (known(pool, "a").state, known(pool, "a").sensitive) == (State.KEPT, ((0, 1), (4, OPEN_END)))


def test_a_later_verdict_adds_spans_and_replaces_the_rest(pool: Pool, clock: Clock) -> None:
    fill(pool, "a")
    pool.keep("a", "R101", [(5, 9)], ttl=5, priority=3)
    clock.now += 1
    later = pool.keep("a", "R203", [(1, 2)])
    assert (later.reason, later.sensitive, later.priority) == ("R203", ((1, 2), (5, 9)), 0)
    assert later.expires == clock.now + 100


def test_a_verdict_on_what_is_unknown_or_gone_says_so(pool: Pool) -> None:
    with pytest.raises(UnknownCapture, match="no capture 'a' is known here"):
        pool.keep("a", "R203")
    with pytest.raises(UnknownCapture):
        pool.drop("a")
    with pytest.raises(UnknownCapture):
        pool.look("a")
    fill(pool, "a")
    pool.drop("a")
    with pytest.raises(Gone, match="has expired"):
        pool.keep("a", "R203")


@pytest.mark.parametrize("spans", [[(-1, 2)], [(2, 2)], [(3, 2)], [(0, 1), (5, 4)]])
def test_a_span_that_is_none_is_refused(pool: Pool, spans: list[tuple[int, int]]) -> None:
    fill(pool, "a", kept=False)
    with pytest.raises(ValueError, match="span"):
        pool.keep("a", "R203", spans)
    assert known(pool, "a").state == State.PENDING


@pytest.mark.parametrize("ttl", [0, -1, float("inf"), float("nan")])
def test_a_time_that_is_none_is_refused(pool: Pool, ttl: float) -> None:
    fill(pool, "a", kept=False)
    with pytest.raises(ValueError, match="seconds above 0"):
        pool.keep("a", "R203", ttl=ttl)


def test_a_name_that_could_leave_the_folder_is_refused_everywhere(pool: Pool) -> None:
    bad = "../a"
    for step in (
        lambda: pool.begin(bad, OWNER, TOKENS, RECORD),
        lambda: pool.put(bad, (block("a", 0), b"")),
        lambda: pool.finish(bad, {}),
        lambda: pool.keep(bad, "R203"),
        lambda: pool.drop(bad),
        lambda: pool.find(bad),
        lambda: pool.look(bad),
        lambda: pool.lease(bad),
        lambda: pool.promote(bad),
    ):
        with pytest.raises(ValueError, match="capture's id must be"):
            step()


def test_blocks_of_another_size_are_refused(pool: Pool) -> None:
    with pytest.raises(ValueError, match="can't be captured"):
        pool.begin("a", OWNER, 0, RECORD)
    with pytest.raises(ValueError, match="can't be captured"):
        pool.begin("a", OWNER, TOKENS, 0)
    pool.begin("a", OWNER, TOKENS, RECORD)
    for tokens, size in ((TOKENS, RECORD - 1), (TOKENS + 1, RECORD)):
        with pytest.raises(ValueError, match="has blocks of 4 tokens and 64 bytes"):
            pool.put("a", (type(block("a", 0))(0, (1,) * tokens, 0), bytes(size)))
    assert known(pool, "a").blocks == 0


def test_only_what_is_kept_is_lent(pool: Pool) -> None:
    with pytest.raises(UnknownCapture):
        pool.lease("a")
    fill(pool, "a", kept=False)
    with pytest.raises(Gone, match="it is pending"):
        pool.lease("a")
    pool.keep("a", "R203")
    with pool.lease("a") as lease:
        assert lease.entry == known(pool, "a")
    pool.drop("a")
    with pytest.raises(Gone, match="it is expired"):
        pool.lease("a")


def test_what_is_on_disk_is_not_lent(tmp_path: Path) -> None:
    pool = Pool(small(tmp_path, 1, disk=tmp_path / "disk", disk_size=1 << 20))
    fill(pool, "a")
    fill(pool, "b")
    with pytest.raises(Gone, match="on disk"):
        pool.lease("a")
    pool.close()


def test_a_capture_is_active_while_it_is_read(pool: Pool) -> None:
    for id in ("a", "b"):
        fill(pool, id)
    with pool.lease("a"), pool.lease("a"):
        assert pool.look("a").state == State.ACTIVE
        assert pool.usage().entries == {State.PENDING: 0, State.KEPT: 1, State.ACTIVE: 1, State.EXPIRED: 0}
        assert [entry.id for entry in pool.entries(9, State.ACTIVE)] == ["a"]
        assert [entry.id for entry in pool.entries(9, State.KEPT)] == ["b"]
        assert known(pool, "a").state == State.KEPT, "who looks up does not touch the file"
    assert pool.usage().entries[State.KEPT] == 2
    assert pool.entries(9, State.ACTIVE) == []


def test_a_dropped_capture_is_read_to_its_end(pool: Pool) -> None:
    fill(pool, "a", 2)
    into = bytearray(RECORD)
    with pool.lease("a") as lease:
        assert pool.drop("a").state == State.EXPIRED
        lease.read(1, into)
        assert into == record("a", 1)
        with pytest.raises(Gone):
            pool.lease("a")
    pool.sweep()
    assert pool.usage().bytes == 0


def test_a_list_is_as_long_as_it_may_be_the_newest_first(pool: Pool) -> None:
    for id in ("a", "b", "c"):
        fill(pool, id, kept=id != "b")
    assert [entry.id for entry in pool.entries(2)] == ["c", "b"]
    assert [entry.id for entry in pool.entries(9, State.KEPT)] == ["c", "a"]
    assert [entry.id for entry in pool.entries(9, State.EXPIRED)] == []


def test_the_engine_s_word_is_passed_on(pool: Pool, tmp_path: Path) -> None:
    assert pool.engine() is None
    pool.publish_engine({"model": "m", "splice": False})
    other = Pool(small(tmp_path))
    assert other.engine() == {"model": "m", "splice": False}
    other.close()


@pytest.mark.parametrize("form", [bytes, bytearray, lambda data: memoryview(data).cast("I")])
def test_a_record_may_be_any_buffer(pool: Pool, form: type[bytes]) -> None:
    pool.begin("a", OWNER, TOKENS, RECORD)
    assert pool.put("a", (block("a", 0), form(record("a", 0))))
    pool.keep("a", "R203")
    assert sound(pool, "a")


def test_a_lookup_does_not_wait_for_whoever_writes(pool: Pool, tmp_path: Path) -> None:
    fill(pool, "a")
    writer = sqlite3.connect(tmp_path / "pool" / "index.db", isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE captures SET reason = 'X'")
    assert known(pool, "a").reason == "R203"
    with pool.lease("a") as lease:
        lease.read(0, bytearray(RECORD))
    writer.execute("ROLLBACK")
    writer.close()


def test_a_folder_that_is_none_of_ours_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="name another"):
        Pool(Settings(folder=tmp_path / "file"))
    with pytest.raises(ValueError, match="name another"):
        Pool(small(tmp_path, disk=tmp_path / "file"))


def test_the_tokens_behind_the_last_block_are_known_while_they_follow_it(tmp_path: Path) -> None:
    with contextlib.closing(Pool(small(tmp_path))) as pool:
        for name, told in (("whole", TOKENS), ("cut", 2 * TOKENS)):
            fill(pool, name, kept=False)
            pool.finish(name, {"captured_tokens": told}, (7, 8))
        assert pool.look("whole").tail == (7, 8)
        assert pool.look("cut").tail == ()
        pool.drop("whole")
        assert pool.look("whole").tail == ()
