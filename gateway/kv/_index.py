"""What the pool knows of each capture: all that reads and writes the table.

Each function takes a connection within a transaction, so that whoever calls several of them gets one state of affairs.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from gateway.kv._schema import ROW, Row, Totals
from gateway.kv.nouns import Block, Entry, Owner, State

_TOKENS, _CRCS, _HOLES = "I", "I", "Q"  # how the columns of a run are packed


def row(db: sqlite3.Connection, id: str) -> Row | None:
    found = db.execute(f"{ROW} WHERE id = ?", (id,)).fetchone()
    return Row(*found) if found else None


def rows(db: sqlite3.Connection, query: str, *values: object) -> list[Row]:
    """Of one of the schema's queries."""
    return [Row(*found) for found in db.execute(query, values)]


def several(db: sqlite3.Connection, queries: Iterable[str], limit: int) -> list[Row]:
    """At most `limit` of each of the queries, in order."""
    return [found for query in queries for found in rows(db, query, limit)]


def entry(db: sqlite3.Connection, row: Row, state: State | None = None) -> Entry:
    """The capture with all its tokens, in the state that the row or the caller says."""
    runs = db.execute("SELECT tokens, holes FROM runs WHERE capture = ? ORDER BY first", (row.seq,)).fetchall()
    return Entry(
        id=row.id,
        owner=Owner(row.tenant, row.adapter, row.fingerprint),
        state=state or State(row.state),
        block_size=row.block_size,
        record_bytes=row.record_bytes,
        tokens=_unpacked(_TOKENS, [tokens for tokens, _ in runs]),
        holes=_unpacked(_HOLES, [holes for _, holes in runs]),
        prompt_tokens=row.prompt_tokens,
        reason=row.reason,
        sensitive=tuple(row.spans),
        priority=row.priority,
        created=row.created,
        expires=row.expires,
        on_disk=bool(row.on_disk),
        report=json.loads(row.report),
        tail=_unpacked(_TOKENS, [row.tail]),
    )


def crcs(db: sqlite3.Connection, row: Row) -> tuple[int, ...]:
    runs = db.execute("SELECT crcs FROM runs WHERE capture = ? ORDER BY first", (row.seq,))
    return _unpacked(_CRCS, [packed for (packed,) in runs])


def holds(db: sqlite3.Connection, row: Row, block: Block) -> bool:
    """Whether this block was published before, with the same tokens."""
    start = block.index * row.block_size
    return 0 <= block.index < row.blocks and entry(db, row).tokens[start : start + row.block_size] == block.tokens


def insert(db: sqlite3.Connection, entry: Entry, *, running: bool) -> None:
    """A new capture without blocks."""
    fresh = Row(
        seq=0,
        id=entry.id,
        **entry.owner._asdict(),
        state=entry.state.value,
        running=running,
        block_size=entry.block_size,
        record_bytes=entry.record_bytes,
        prompt_tokens=entry.prompt_tokens,
        blocks=0,
        reason="",
        sensitive="[]",
        priority=0,
        created=entry.created,
        expires=entry.expires,
        used=entry.created,
        on_disk=0,
        bytes=0,
        disk=0,
        report=json.dumps(dict(entry.report)),
        tail=b"",
    )
    marks = ", ".join("?" * (len(fresh) - 1))
    db.execute(f"INSERT INTO captures ({', '.join(Row._fields[1:])}) VALUES ({marks})", fresh[1:])


def publish(db: sqlite3.Connection, row: Row, blocks: Sequence[Block]) -> None:
    """The next blocks of a capture, at least one; their records are in place."""
    tokens = array(_TOKENS, chain.from_iterable(block.tokens for block in blocks))
    crcs, holes = array(_CRCS, (block.crc for block in blocks)), array(_HOLES, (block.holes for block in blocks))
    packed = (part.tobytes() for part in (tokens, crcs, holes))
    db.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?)", (row.seq, blocks[0].index, *packed))
    db.execute(
        "UPDATE captures SET blocks = blocks + ?, bytes = bytes + ? * record_bytes WHERE seq = ?",
        (len(blocks), len(blocks), row.seq),
    )


def seal(db: sqlite3.Connection, row: Row) -> None:
    """No more blocks will come: those there are become one run, which is read faster."""
    runs = db.execute("SELECT tokens, crcs, holes FROM runs WHERE capture = ? ORDER BY first", (row.seq,)).fetchall()
    if len(runs) > 1:
        db.execute("DELETE FROM runs WHERE capture = ?", (row.seq,))
        db.execute(
            "INSERT INTO runs VALUES (?, 0, ?, ?, ?)",
            (row.seq, *(b"".join(column) for column in zip(*runs, strict=True))),
        )


def close(db: sqlite3.Connection, row: Row, expires: float) -> None:
    """Its request is over; a verdict may come until `expires`, or has come already."""
    seal(db, row)
    late = expires if row.state == State.PENDING else row.expires
    db.execute("UPDATE captures SET running = 0, expires = ? WHERE seq = ?", (late, row.seq))


def report(db: sqlite3.Connection, row: Row, told: Mapping[str, Any], tail: Sequence[int]) -> None:
    """`tail` follows the last block, unless the capture ended early: then the report tells of more than there is."""
    follows = not row.gone and told.get("captured_tokens") == row.blocks * row.block_size
    packed = array(_TOKENS, tail if follows else ()).tobytes()
    db.execute("UPDATE captures SET report = ?, tail = ? WHERE seq = ?", (json.dumps(dict(told)), packed, row.seq))


def keep(
    db: sqlite3.Connection, row: Row, reason: str, spans: Sequence[tuple[int, int]], expires: float, priority: int
) -> None:
    db.execute(
        "UPDATE captures SET state = 'kept', reason = ?, sensitive = ?, expires = ?, priority = ? WHERE seq = ?",
        (reason, json.dumps(spans), expires, priority, row.seq),
    )


def expire(db: sqlite3.Connection, row: Row, now: float) -> None:
    """Its tokens go at once; its bytes are leftovers until they are removed; its name is remembered."""
    db.execute(
        "UPDATE captures SET state = 'expired', running = 0, expires = ?, tail = x'' WHERE seq = ?", (now, row.seq)
    )
    db.execute("DELETE FROM runs WHERE capture = ?", (row.seq,))


def settle(
    db: sqlite3.Connection,
    row: Row,
    *,
    bytes: int | None = None,
    disk: int | None = None,
    on_disk: bool | None = None,
) -> None:
    """What the tiers hold of it from now on; None leaves a figure as it is."""
    db.execute(
        "UPDATE captures SET bytes = coalesce(?, bytes), disk = coalesce(?, disk), on_disk = coalesce(?, on_disk)"
        " WHERE seq = ?",
        (bytes, disk, on_disk, row.seq),
    )


def touch(db: sqlite3.Connection, used: Iterable[tuple[float, str]]) -> None:
    """When captures were used last: pairs of time and id."""
    db.executemany("UPDATE captures SET used = max(used, ?) WHERE id = ?", used)


def forget(db: sqlite3.Connection, before: float) -> int:
    """Forget the names of captures that ended before then and of which nothing is left: how many."""
    return db.execute(
        "DELETE FROM captures INDEXED BY dead WHERE state = 'expired' AND expires < ? AND bytes = 0 AND disk = 0",
        (before,),
    ).rowcount


def totals(db: sqlite3.Connection) -> Totals:
    return Totals(*db.execute("SELECT bytes, disk FROM totals").fetchone())


def counts(db: sqlite3.Connection) -> dict[State, int]:
    """How many captures are in each state; none is ACTIVE here."""
    found = dict(db.execute("SELECT state, count(*) FROM captures GROUP BY state"))
    return {state: found.get(state.value, 0) for state in State}


def kept_in_memory(db: sqlite3.Connection) -> list[str]:
    return [id for (id,) in db.execute("SELECT id FROM captures WHERE state = 'kept' AND NOT on_disk AND bytes > 0")]


def newest(db: sqlite3.Connection, state: State | None) -> Iterator[Row]:
    """From the newest to the oldest; of one state or of all."""
    where, values = (" WHERE state = ?", (state.value,)) if state else ("", ())
    return (Row(*found) for found in db.execute(f"{ROW}{where} ORDER BY seq DESC", values))


def note(db: sqlite3.Connection, name: str, value: Mapping[str, Any]) -> None:
    db.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (name, json.dumps(dict(value))))


def noted(db: sqlite3.Connection, name: str) -> dict[str, Any] | None:
    found = db.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
    return dict(json.loads(found[0])) if found else None


def continues(row: Row, fresh: Entry) -> bool:
    """Whether `fresh` is the request that is running already: it begins twice when it was preempted."""
    same = (row.tenant, row.adapter, row.fingerprint, row.block_size, row.record_bytes)
    return bool(row.running) and same == (*fresh.owner, fresh.block_size, fresh.record_bytes)


def merged(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same positions in as few spans as can be, in order."""
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def _unpacked(kind: str, parts: Sequence[bytes]) -> tuple[int, ...]:
    packed = array(kind)
    packed.frombytes(b"".join(parts))
    return tuple(packed)
