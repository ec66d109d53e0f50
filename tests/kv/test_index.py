"""What the pool knows of each capture goes in and comes out unchanged."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.kv import _index as index
from gateway.kv import _schema as schema
from gateway.kv.nouns import Block, Entry, Owner, State
from tests.kv.pools import OWNER, block
from tests.kv.test_schema import made


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    db = made()
    yield db
    db.close()


def row(db: sqlite3.Connection, id: str = "a") -> schema.Row:
    found = index.row(db, id)
    assert found is not None
    return found


def start(db: sqlite3.Connection, id: str = "a", *blocks: Block, created: float = 5.0) -> None:
    size = len(blocks[0].tokens) if blocks else 4
    index.insert(db, Entry(id, OWNER, State.PENDING, size, 64, created=created), running=True)
    for one in blocks:
        index.publish(db, row(db, id), [one])


words = st.text(max_size=20).filter(lambda text: "\0" not in text and text.isprintable())


@settings(max_examples=100, deadline=None)
@given(tenant=words, adapter=words, fingerprint=words, prompt=st.integers(0, 1 << 31))
def test_whom_a_capture_may_serve_is_told_as_it_was(tenant: str, adapter: str, fingerprint: str, prompt: int) -> None:
    db = made()
    told = Entry("a", Owner(tenant, adapter, fingerprint), State.PENDING, 16, 4096, prompt_tokens=prompt, created=7.5)
    index.insert(db, told, running=True)
    assert index.entry(db, row(db)) == told
    db.close()


blocks = st.lists(
    st.tuples(
        st.lists(st.integers(0, (1 << 32) - 1), min_size=3, max_size=3).map(tuple),
        st.integers(0, (1 << 32) - 1),
        st.integers(0, (1 << 64) - 1),
    )
)


@settings(max_examples=100, deadline=None)
@given(told=blocks, sealed_at=st.integers(0, 20), together=st.integers(1, 4))
def test_blocks_come_out_as_they_went_in_sealed_or_not(
    told: list[tuple[tuple[int, ...], int, int]], sealed_at: int, together: int
) -> None:
    db = made()
    start(db, "other", Block(0, (9, 9, 9), 9))
    start(db)
    blocks = [Block(number, *one) for number, one in enumerate(told)]
    for number in range(0, len(blocks), together):
        if number == sealed_at:
            index.seal(db, row(db))
        index.publish(db, row(db), blocks[number : number + together])
    for sealed in (False, True):
        if sealed:
            index.seal(db, row(db))
        entry = index.entry(db, row(db))
        assert entry.tokens == tuple(token for tokens, _, _ in told for token in tokens)
        assert entry.holes == tuple(holes for _, _, holes in told)
        assert index.crcs(db, row(db)) == tuple(crc for _, crc, _ in told)
        assert (entry.blocks, entry.bytes) == (len(told), 64 * len(told)) == (row(db).blocks, row(db).bytes)
    db.close()


def test_a_block_that_was_published_is_known_by_its_tokens(db: sqlite3.Connection) -> None:
    start(db, "a", block("a", 0), block("a", 1))
    for number in (0, 1):
        assert index.holds(db, row(db), block("a", number))
        assert not index.holds(db, row(db), block("b", number))
    assert not index.holds(db, row(db), block("a", 2))
    assert not index.holds(db, row(db), replace(block("a", 1), index=-1))


def test_the_time_for_a_verdict_begins_when_the_request_is_over_and_no_verdict_came(db: sqlite3.Connection) -> None:
    start(db)
    index.close(db, row(db), 30.0)
    assert (row(db).running, row(db).expires) == (0, 30.0)
    start(db, "b")
    index.keep(db, row(db, "b"), "R203", [(1, 2)], 90.0, 3)
    index.close(db, row(db, "b"), 30.0)
    kept = index.entry(db, row(db, "b"))
    assert (kept.state, kept.reason, kept.sensitive, kept.expires, kept.priority) == (
        State.KEPT,
        "R203",
        ((1, 2),),
        90.0,
        3,
    )


def test_what_expires_loses_its_tokens_and_keeps_its_name(db: sqlite3.Connection) -> None:
    start(db, "a", block("a", 0))
    index.report(db, row(db), {"captured_tokens": 4}, ())
    index.expire(db, row(db), 50.0)
    entry = index.entry(db, row(db))
    assert (entry.state, entry.tokens, entry.bytes, entry.report) == (State.EXPIRED, (), 0, {"captured_tokens": 4})
    assert index.totals(db).bytes == 64, "nobody has removed them yet"
    assert db.execute("SELECT count(*) FROM runs").fetchone() == (0,)


def test_a_name_is_forgotten_once_nothing_is_left_of_it(db: sqlite3.Connection) -> None:
    for id in ("a", "b", "c"):
        start(db, id, block(id, 0))
    index.expire(db, row(db, "a"), 50.0)
    index.expire(db, row(db, "b"), 50.0)
    index.settle(db, row(db, "b"), bytes=0)
    assert index.forget(db, 50.0) == 0
    assert index.forget(db, 51.0) == 1
    assert index.row(db, "b") is None
    index.settle(db, row(db, "a"), bytes=0, disk=3)
    assert index.forget(db, 51.0) == 0


def test_settling_changes_what_it_names_alone(db: sqlite3.Connection) -> None:
    start(db, "a", block("a", 0))
    index.settle(db, row(db), disk=7)
    assert (row(db).bytes, row(db).disk, row(db).on_disk) == (64, 7, 0)
    index.settle(db, row(db), bytes=0, on_disk=True)
    assert (row(db).bytes, row(db).disk, row(db).on_disk) == (0, 7, 1)
    index.settle(db, row(db), on_disk=False)
    assert index.totals(db) == (0, 7)
    assert row(db).on_disk == 0


def test_the_last_use_only_grows(db: sqlite3.Connection) -> None:
    start(db, created=5.0)
    index.touch(db, [(8.0, "a"), (7.0, "a"), (9.0, "unknown")])
    assert row(db).used == 8.0


def test_the_newest_come_first_and_are_counted(db: sqlite3.Connection) -> None:
    for id in ("a", "b", "c"):
        start(db, id)
    index.keep(db, row(db, "b"), "R203", [], 9.0, 0)
    index.expire(db, row(db, "c"), 9.0)
    assert [found.id for found in index.newest(db, None)] == ["c", "b", "a"]
    assert [found.id for found in index.newest(db, State.KEPT)] == ["b"]
    assert index.counts(db) == {State.PENDING: 1, State.KEPT: 1, State.EXPIRED: 1, State.ACTIVE: 0}


def test_who_makes_way_in_memory_stands_in_order(db: sqlite3.Connection) -> None:
    for number, id in enumerate(("kept3", "kept2", "kept1", "waits2", "waits1", "expired", "runs", "moved", "empty")):
        start(db, id, *([] if id == "empty" else [block(id, 0)]), created=100.0 - number)
        if id.startswith("kept"):
            index.keep(db, row(db, id), "R203", [], 999.0, 1 if id == "kept3" else 0)
        if id != "runs":
            index.close(db, row(db, id), 999.0)
    index.expire(db, row(db, "expired"), 5.0)
    index.keep(db, row(db, "moved"), "R203", [], 999.0, 0)
    index.settle(db, row(db, "moved"), bytes=0, on_disk=True, disk=9)
    found = [victim.id for victim in index.several(db, schema.VICTIMS, 9)]
    assert found == ["expired", "waits2", "waits1", "kept1", "kept2", "kept3"]
    assert [victim.id for victim in index.several(db, schema.DISK_VICTIMS, 9)] == ["moved"]
    assert index.kept_in_memory(db) == ["kept3", "kept2", "kept1"]
    assert [found.id for found in index.rows(db, schema.RUNNING)] == ["runs"]


def test_a_request_that_begins_again_is_told_from_another(db: sqlite3.Connection) -> None:
    start(db)
    same = Entry("a", OWNER, State.PENDING, 4, 64)
    assert index.continues(row(db), same)
    for other in (
        Entry("a", OWNER._replace(tenant="other"), State.PENDING, 4, 64),
        Entry("a", OWNER, State.PENDING, 5, 64),
        Entry("a", OWNER, State.PENDING, 4, 65),
    ):
        assert not index.continues(row(db), other)
    index.close(db, row(db), 9.0)
    assert not index.continues(row(db), same)


def test_notes_are_replaced(db: sqlite3.Connection) -> None:
    assert index.noted(db, "engine") is None
    index.note(db, "engine", {"model": "m"})
    index.note(db, "engine", {"model": "n", "splice": True})
    assert index.noted(db, "engine") == {"model": "n", "splice": True}


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 20)).map(lambda pair: (pair[0], pair[0] + pair[1]))))
def test_merged_spans_cover_the_same_positions(spans: list[tuple[int, int]]) -> None:
    merged = index.merged(spans)
    assert {n for start, end in merged for n in range(start, end)} == {n for s, e in spans for n in range(s, e)}
    assert all(before[1] < after[0] for before, after in pairwise(merged))
