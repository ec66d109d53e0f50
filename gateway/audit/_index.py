"""Where in the files an exchange, a capture or a configuration stands: SQLite beside them, made of them alone.

It is caught up when somebody asks, so the gateway spends nothing on it; if it is damaged it is made anew.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from gateway.audit import _files

NAME = "index.db"
_BATCH = 20_000  # lines between two commits
_SCHEMA = """
CREATE TABLE IF NOT EXISTS files (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, upto INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS exchanges (id TEXT PRIMARY KEY, file INTEGER NOT NULL, place INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS captures (capture TEXT PRIMARY KEY, exchange TEXT NOT NULL, donor TEXT NOT NULL,
    file INTEGER NOT NULL, place INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS captures_of ON captures (exchange);
CREATE TABLE IF NOT EXISTS houses (revision TEXT PRIMARY KEY, file INTEGER NOT NULL, place INTEGER NOT NULL)
    WITHOUT ROWID;
"""
_PUT = {
    "exchange": "INSERT OR REPLACE INTO exchanges VALUES (?, ?, ?)",
    "reuse": "INSERT OR REPLACE INTO captures VALUES (?, ?, ?, ?, ?)",
    "house": "INSERT OR REPLACE INTO houses VALUES (?, ?, ?)",
}
_WANTED = tuple(f'"kind":"{kind}"'.encode() for kind in _PUT)

Progress = Callable[[int], None]


class Place(NamedTuple):
    """Where a line begins."""

    file: Path
    place: int


class Step(NamedTuple):
    """A capture: which exchange it was made of, which donor served that, and where the line is that tells it."""

    capture: str
    exchange: str
    donor: str
    place: Place


@contextmanager
def opened(folder: Path) -> Iterator[sqlite3.Connection]:
    """The index of a folder, not caught up. A damaged one is begun anew."""
    path = folder / NAME
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, _files.MODE))
    try:
        connection = _connected(path)
    except sqlite3.DatabaseError as fault:
        if isinstance(fault, sqlite3.OperationalError):
            raise
        for name in (NAME, f"{NAME}-wal", f"{NAME}-shm"):
            (folder / name).unlink(missing_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, _files.MODE))
        connection = _connected(path)
    try:
        yield connection
    finally:
        connection.close()


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=30)
    try:
        connection.executescript(
            f"PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = -200000; {_SCHEMA}"
        )
    except sqlite3.DatabaseError:
        connection.close()
        raise
    return connection


def catch_up(folder: Path, index: sqlite3.Connection, progress: Progress = lambda _count: None) -> int:
    """Read what was written since the last time; how many lines that were. Files that are gone are forgotten."""
    files = [path for chain in _files.chains(folder).values() for path in chain]
    known = {name: (number, upto) for number, name, upto in index.execute("SELECT number, name, upto FROM files")}
    for name in known.keys() - {path.name for path in files}:
        _forget(index, known[name][0])
    count = 0
    for path in files:
        number, upto = known.get(path.name, (None, 0))
        if number is not None and path.stat().st_size < upto:  # torn lines were set aside, or it is another file
            _forget(index, number)
            number, upto = None, 0
        if number is None:
            number = index.execute("INSERT INTO files (name, upto) VALUES (?, 0)", (path.name,)).lastrowid
        if path.stat().st_size > upto:
            count += _read(index, path, int(number or 0), upto, progress)
    index.commit()
    return count


def _forget(index: sqlite3.Connection, number: int) -> None:
    for table in ("exchanges", "captures", "houses"):
        index.execute(f"DELETE FROM {table} WHERE file = ?", (number,))
    index.execute("DELETE FROM files WHERE number = ?", (number,))


def _read(index: sqlite3.Connection, path: Path, number: int, upto: int, progress: Progress) -> int:
    rows: dict[str, list[tuple[Any, ...]]] = {kind: [] for kind in _PUT}
    count, noted = 0, upto
    for place, line in _files.lines(path, upto):
        count += 1
        upto = place + len(line) + 1
        _sort(rows, line, number, place)
        if count % _BATCH == 0:
            _put(index, rows, number, upto)
            progress(upto - noted)
            noted = upto
    _put(index, rows, number, upto)
    progress(upto - noted)
    return count


def _sort(rows: dict[str, list[tuple[Any, ...]]], line: bytes, number: int, place: int) -> None:
    """Put a line into the table it belongs to, if it does."""
    if not any(kind in line for kind in _WANTED):
        return
    try:
        told = orjson.loads(line)
    except orjson.JSONDecodeError:
        return  # `retrace audit verify` says so
    match told:
        case {"kind": "exchange", "id": str(name)}:
            rows["exchange"].append((name, number, place))
        case {"kind": "reuse", "capture": str(name), "exchange": str(exchange), "donor": str(donor)}:
            rows["reuse"].append((name, exchange, donor, number, place))
        case {"kind": "house", "revision": str(name)}:
            rows["house"].append((name, number, place))


def _put(index: sqlite3.Connection, rows: dict[str, list[tuple[Any, ...]]], number: int, upto: int) -> None:
    for kind, mine in rows.items():
        index.executemany(_PUT[kind], sorted(mine))  # neighbours in a table cost less together
        mine.clear()
    index.execute("UPDATE files SET upto = ? WHERE number = ?", (upto, number))
    index.commit()
