"""An SQLite file in a folder that several processes share: made, found, given up when it is damaged.

The file's name holds its edition and is drawn anew each time one is made; the link `index.db` names the one in force.
So whoever still has an old one open never meets the files of the new one (closing an SQLite file removes its log *by
name*), and notices at his next step. Readers never wait for a writer (WAL). Nothing is flushed: this must outlive
processes, not power.
"""

from __future__ import annotations

import fcntl
import logging
import os
import secrets
import sqlite3
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from gateway.kv._names import own

log = logging.getLogger(__name__)

PATIENCE = 5.0  # seconds a writer waits for another one
_WAITING = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class _Generation(NamedTuple):
    name: str
    idle: deque[sqlite3.Connection]


class Database:
    """Connections to the file in force. To be used in the process that made it; by any of its threads."""

    def __init__(
        self, folder: Path, schema: str, edition: int, lost: Callable[[], None], patience: float = PATIENCE
    ) -> None:
        """Open or create; `lost` is called whenever a new one begins empty. ValueError if the folder can't be used."""
        self._folder = folder
        self._link = folder / "index.db"
        self._schema = schema
        self._edition = edition
        self._lost = lost
        self._patience = patience
        self._now = self._open()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One state of affairs, whoever writes meanwhile."""
        with self._lent() as db:
            db.execute("BEGIN")
            yield db
            db.execute("COMMIT")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """All of it or, after an exception, nothing. One writer at a time, over all processes."""
        with self._lent() as db:
            db.execute("BEGIN IMMEDIATE")
            yield db
            db.execute("COMMIT")

    def check(self) -> None:
        """Look through the whole file; a damaged one is replaced by an empty one."""
        try:
            with self._lent() as db:
                (told,) = db.execute("PRAGMA quick_check(1)").fetchone()
                if told != "ok":
                    self._give_up(self._now.name, told)
        except sqlite3.DatabaseError as error:
            if _kind(error) not in _DAMAGED:
                raise

    def close(self) -> None:
        """Let go of all connections that nobody uses; the next step opens one again."""
        _empty(self._now.idle)

    @contextmanager
    def _lent(self) -> Iterator[sqlite3.Connection]:
        now = self._follow()
        try:
            db = now.idle.pop()
        except IndexError:
            db = self._connect(now.name)
        try:
            yield db
        except sqlite3.Error as error:
            db.close()
            if _kind(error) in _DAMAGED:
                self._give_up(now.name, str(error))
            raise
        except BaseException:
            db.rollback()
            now.idle.append(db)
            raise
        if now is self._now:
            now.idle.append(db)
        else:
            db.close()

    def _follow(self) -> _Generation:
        try:
            name = os.readlink(self._link)
        except OSError:
            name = ""  # the folder was emptied under us
        if name != self._now.name:
            old, self._now = self._now, self._open()
            _empty(old.idle)
        return self._now

    def _open(self) -> _Generation:
        own(self._folder)
        with self._alone():
            db = self._found()
            if db is None:
                db = self._made()
            return _Generation(os.readlink(self._link), deque([db]))

    def _found(self) -> sqlite3.Connection | None:
        try:
            name = os.readlink(self._link)
        except FileNotFoundError:
            return None
        except OSError:
            name = ""  # something else lies in its place
        if name.startswith(self._prefix):
            try:
                db = self._connect(name)
                if db.execute("PRAGMA user_version").fetchone() == (self._edition,):
                    return db
                db.close()
            except sqlite3.DatabaseError as error:
                if _kind(error) in _WAITING:
                    raise
        log.warning("the index in %s is damaged or of another edition: starting with an empty pool", self._folder)
        return None

    def _made(self) -> sqlite3.Connection:
        self._lost()
        name = f"{self._prefix}{secrets.token_hex(8)}.db"
        db = self._connect(name, "rwc")
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(f"BEGIN; {self._schema}; PRAGMA user_version = {self._edition}; COMMIT")
        beside = self._folder / f"{name}.link"
        beside.symlink_to(name)
        beside.replace(self._link)
        for path in self._folder.glob("index-*"):
            if not path.name.startswith(name):
                path.unlink(missing_ok=True)
        return db

    @property
    def _prefix(self) -> str:
        return f"index-{self._edition}-"

    def _connect(self, name: str, mode: str = "rw") -> sqlite3.Connection:
        where = f"file:{quote(str(self._folder.absolute() / name))}?mode={mode}"
        db = sqlite3.connect(where, self._patience, isolation_level=None, check_same_thread=False, uri=True)
        db.execute("PRAGMA synchronous = OFF")
        return db

    def _give_up(self, name: str, why: str) -> None:
        """The next step of anybody starts with an empty one."""
        with self._alone():
            if os.path.lexists(self._link) and os.readlink(self._link) == name:
                log.warning("the index in %s is damaged (%s): starting with an empty pool", self._folder, why)
                self._link.unlink()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        fd = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield
        finally:
            os.close(fd)


def _empty(idle: deque[sqlite3.Connection]) -> None:
    for _ in range(len(idle)):
        try:
            idle.pop().close()
        except IndexError:
            return  # another thread was faster


def _kind(error: sqlite3.Error) -> int:
    """SQLite's primary result code; 0 for what the library itself objects to."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
