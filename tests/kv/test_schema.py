"""The table: no question walks through all of it, the totals follow whatever happens."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.kv import _index as index
from gateway.kv import _schema as schema
from gateway.kv.nouns import Entry, State
from tests.kv.pools import OWNER


@pytest.fixture
def db() -> Iterator[sqlite3.Connection]:
    db = made()
    yield db
    db.close()


def made() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.executescript(schema.SCHEMA)
    return db


ASKED_ON_THE_WAY = (*schema.VICTIMS, *schema.DISK_VICTIMS, schema.OVERDUE, schema.RUNNING, f"{schema.ROW} WHERE id = ?")


@pytest.mark.parametrize("query", ASKED_ON_THE_WAY)
def test_no_question_on_the_way_of_a_request_walks_through_the_table(db: sqlite3.Connection, query: str) -> None:
    plan = [line[3] for line in db.execute(f"EXPLAIN QUERY PLAN {query}", (1,) * query.count("?"))]
    assert len(plan) == 1
    assert "USING INDEX" in plan[0]
    assert "TEMP B-TREE" not in plan[0]


def test_a_row_s_columns_are_the_table_s(db: sqlite3.Connection) -> None:
    assert tuple(column[1] for column in db.execute("PRAGMA table_info(captures)")) == schema.Row._fields


figures = st.integers(0, 1 << 45)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), figures, figures)))
def test_the_totals_are_the_sums(changes: list[tuple[int, int, int]]) -> None:
    db = made()
    for number in range(5):
        index.insert(db, Entry(str(number), OWNER, State.PENDING, 4, 64), running=True)
    for number, in_memory, on_disk in changes:
        row = index.row(db, str(number))
        assert row is not None
        index.settle(db, row, bytes=in_memory, disk=on_disk)
    assert index.totals(db) == db.execute("SELECT sum(bytes), sum(disk) FROM captures").fetchone()
    db.close()


def test_what_is_expired_is_gone() -> None:
    row = schema.Row(*range(22))._replace(state="expired", sensitive="[[1, 2], [4, 2147483647]]")
    assert row.gone
    assert row.spans == [(1, 2), (4, 2147483647)]
    assert not row._replace(state="kept").gone
