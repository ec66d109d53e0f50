"""The SQLite file: shared, found again, replaced when it is damaged; and nobody is led astray by an old one."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from gateway.kv._database import Database

SCHEMA = "CREATE TABLE lines (text TEXT)"


class Losses:
    """Counts how often one began empty."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self) -> None:
        self.count += 1


class Rig:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.losses = Losses()
        self.made: list[Database] = []

    def open(self, edition: int = 1, **options: float) -> Database:
        self.made.append(Database(self.folder, SCHEMA, edition, self.losses, **options))
        return self.made[-1]

    @property
    def link(self) -> Path:
        return self.folder / "index.db"


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    rig = Rig(tmp_path / "pool")
    yield rig
    for database in rig.made:
        database.close()


def add(database: Database, text: str) -> None:
    with database.writing() as db:
        db.execute("INSERT INTO lines VALUES (?)", (text,))


def lines(database: Database) -> list[str]:
    with database.reading() as db:
        return [text for (text,) in db.execute("SELECT text FROM lines")]


def test_it_is_found_again_by_whoever_comes_later(rig: Rig) -> None:
    first = rig.open()
    add(first, "a")
    assert lines(rig.open()) == ["a"]
    first.close()
    assert lines(rig.open()) == ["a"]
    assert lines(first) == ["a"], "closing is not the end"
    assert rig.losses.count == 1


def test_after_an_exception_nothing_has_happened(rig: Rig) -> None:
    database = rig.open()

    def add_and_fail(fault: str) -> None:
        with database.writing() as db:
            db.execute("INSERT INTO lines VALUES ('a')")
            db.execute("INSERT INTO nowhere VALUES ('b')" if fault == "sql" else "SELECT 1")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        add_and_fail("ours")
    with pytest.raises(sqlite3.OperationalError, match="nowhere"):
        add_and_fail("sql")
    assert lines(database) == []
    add(database, "c")
    assert lines(database) == ["c"]


def test_a_reader_does_not_wait_for_a_writer_and_sees_one_state_of_affairs(rig: Rig) -> None:
    database, other = rig.open(), rig.open()
    with other.writing() as db:
        db.execute("INSERT INTO lines VALUES ('a')")
        assert lines(database) == []
    with database.reading() as reader:
        assert reader.execute("SELECT count(*) FROM lines").fetchone() == (1,)
        add(other, "b")
        assert reader.execute("SELECT count(*) FROM lines").fetchone() == (1,)
    assert lines(database) == ["a", "b"]


def test_threads_may_share_it(rig: Rig) -> None:
    database = rig.open()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: add(database, str(number)), range(200)))
    assert sorted(lines(database), key=int) == [str(number) for number in range(200)]


def test_all_that_come_at_once_share_one(rig: Rig) -> None:
    """Threads, which come closer together than processes do; a lock on a file is as strange to them."""
    together = threading.Barrier(8)

    def come(number: int) -> None:
        together.wait()
        add(rig.open(), str(number))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(come, range(8)))
    assert sorted(lines(rig.open())) == [str(number) for number in range(8)]
    assert rig.losses.count == 1


def test_one_of_another_edition_is_replaced_with_a_warning(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    add(rig.open(edition=1), "a")
    assert lines(rig.open(edition=2)) == []
    assert rig.losses.count == 2
    assert "starting with an empty pool" in caplog.text
    assert len({path.name.split(".")[0] for path in rig.folder.glob("index-*")}) == 1, "the old one's files are gone"


@pytest.mark.parametrize("garbage", [b"", b"x" * 4096, b"SQLite format 3\0" + b"\xff" * 5000])
def test_one_that_is_damaged_is_replaced_with_a_warning(
    rig: Rig, caplog: pytest.LogCaptureFixture, garbage: bytes
) -> None:
    database = rig.open()
    add(database, "a")
    database.close()
    rig.link.write_bytes(garbage)
    fresh = rig.open()
    assert lines(fresh) == []
    add(fresh, "b")
    assert lines(rig.open()) == ["b"] == lines(database)
    assert "starting with an empty pool" in caplog.text


@pytest.mark.parametrize("place", ["dangling", "file"])
def test_whatever_lies_in_its_place_is_replaced(rig: Rig, place: str) -> None:
    rig.open().close()
    rig.link.unlink()
    if place == "dangling":
        rig.link.symlink_to("index-1-nowhere.db")
    else:
        rig.link.write_bytes(b"mine")
    assert lines(rig.open()) == []


def test_damage_deep_inside_is_found_by_a_check(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    database = rig.open()
    with database.writing() as db:
        db.executemany("INSERT INTO lines VALUES (?)", [("x" * 500,)] * 200)
    database.check()
    assert len(lines(database)) == 200
    database.close()
    with rig.link.open("r+b") as file:
        file.seek(5 * 4096)
        file.write(b"\xff" * 4096)
    database.check()
    assert "damaged" in caplog.text
    assert lines(database) == []
    assert rig.losses.count == 2


def test_damage_met_on_the_way_is_told_once_and_the_next_step_starts_anew(rig: Rig) -> None:
    database = rig.open()
    with database.writing() as db:
        db.executemany("INSERT INTO lines VALUES (?)", [("x" * 500,)] * 200)
    database.close()
    with rig.link.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 4096 * 8)
    with pytest.raises(sqlite3.DatabaseError):
        lines(database)
    assert lines(database) == []


def test_who_had_the_old_one_open_follows_and_does_no_harm(rig: Rig) -> None:
    old, other = rig.open(), rig.open()
    add(old, "lost")
    with old.reading() as held:
        held.execute("SELECT * FROM lines").fetchall()
        rig.link.unlink()
        add(other, "a")
        assert held.execute("SELECT text FROM lines").fetchall() == [("lost",)]
    add(old, "b")
    old.close()
    other.close()
    assert lines(rig.open()) == ["a", "b"]
    assert rig.losses.count == 2


def test_a_folder_that_vanishes_is_made_again(rig: Rig) -> None:
    database = rig.open()
    add(database, "a")
    for path in rig.folder.iterdir():
        path.unlink()
    rig.folder.rmdir()
    assert lines(database) == []
    add(database, "b")
    assert lines(rig.open()) == ["b"]


def test_one_that_is_only_busy_is_not_given_up(rig: Rig, caplog: pytest.LogCaptureFixture) -> None:
    database = rig.open()
    add(database, "a")
    database.close()
    with closing(sqlite3.connect(rig.link, isolation_level=None)) as greedy:
        greedy.execute("PRAGMA locking_mode = EXCLUSIVE")
        greedy.execute("INSERT INTO lines VALUES ('b')")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            rig.open(patience=0.01)
    assert lines(rig.open()) == ["a", "b"]
    assert caplog.text == ""


def test_what_a_creator_left_that_died_is_cleared_away(rig: Rig) -> None:
    rig.folder.mkdir(mode=0o700)
    for name in ("index-1-dead.db", "index-1-dead.db-wal", "index-1-dead.db.link"):
        (rig.folder / name).write_bytes(b"half")
    (rig.folder / "notes.txt").write_text("mine")
    assert lines(rig.open()) == []
    left = sorted(path.name for path in rig.folder.iterdir() if not path.name.startswith(os.readlink(rig.link)))
    assert left == ["index.db", "lock", "notes.txt"]
