"""Where lines stand: an index that is made of the files alone."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from gateway.audit import _files, _index
from gateway.audit._index import catch_up, opened
from gateway.audit._log import Bounds, Log
from tests.audit.logs import HOUSE, USUAL, exchange, name, reuse, write


def count(index: sqlite3.Connection, table: str) -> int:
    return int(index.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def test_what_was_written_since_the_last_time_is_read(tmp_path: Path) -> None:
    write(tmp_path, [HOUSE, exchange(1), reuse(1)])
    with opened(tmp_path) as index:
        told: list[int] = []
        assert catch_up(tmp_path, index, told.append) == 5
        assert sum(told) == (tmp_path / "w0-00000001.jsonl").stat().st_size
        assert catch_up(tmp_path, index) == 0
        write(tmp_path, [exchange(2)])
        assert catch_up(tmp_path, index) == 3
        assert [count(index, table) for table in ("exchanges", "captures", "houses", "files")] == [2, 1, 1, 1]


def test_files_that_made_room_are_forgotten(tmp_path: Path) -> None:
    log = Log(tmp_path, Bounds(2000, 2, "rotate", 0.02))
    log.append([exchange(0)])
    with opened(tmp_path) as index:
        catch_up(tmp_path, index)
        for number in range(1, 30):
            log.append([exchange(number)])
        catch_up(tmp_path, index)
        known = {row[0] for row in index.execute("SELECT id FROM exchanges")}
        there = {path.name for path in tmp_path.glob("*.jsonl")}
        assert {row[0] for row in index.execute("SELECT name FROM files")} == there
    log.close()
    assert name(0) not in known
    assert name(29) in known


def test_a_line_that_has_no_end_yet_is_read_once_it_has(tmp_path: Path) -> None:
    write(tmp_path, [exchange(1)])
    path = tmp_path / "w0-00000001.jsonl"
    data = path.read_bytes()
    path.write_bytes(data[:-5])
    with opened(tmp_path) as index:
        assert catch_up(tmp_path, index) == 2
        path.write_bytes(data)
        assert catch_up(tmp_path, index) == 1


def test_a_file_that_has_become_shorter_is_read_anew(tmp_path: Path) -> None:
    write(tmp_path, [exchange(1), exchange(2)])
    with opened(tmp_path) as index:
        catch_up(tmp_path, index)
        path = tmp_path / "w0-00000001.jsonl"
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:2]))
        assert catch_up(tmp_path, index) == 2
        assert [row[0] for row in index.execute("SELECT id FROM exchanges")] == [name(1)]


def test_a_damaged_index_is_made_anew(tmp_path: Path) -> None:
    write(tmp_path, [exchange(1)])
    (tmp_path / _index.NAME).write_bytes(b"this is no database" * 100)
    with opened(tmp_path) as index:
        assert catch_up(tmp_path, index) == 3
        assert count(index, "exchanges") == 1


def test_an_index_that_can_t_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / _index.NAME).mkdir()
    with pytest.raises(OSError, match="directory"), opened(tmp_path):
        pytest.fail("there is none")


def test_lines_that_are_no_json_are_passed_over(tmp_path: Path) -> None:
    write(tmp_path, [exchange(1)])
    path = tmp_path / "w0-00000001.jsonl"
    path.write_bytes(b'"kind":"exchange" nonsense\n' + path.read_bytes())
    with opened(tmp_path) as index:
        catch_up(tmp_path, index)
        assert count(index, "exchanges") == 1


def test_the_index_is_its_owner_s_alone(tmp_path: Path) -> None:
    log = Log(tmp_path / "log", USUAL)
    with opened(tmp_path / "log") as index:
        catch_up(tmp_path / "log", index)
        modes = {path.stat().st_mode & 0o077 for path in (tmp_path / "log").glob(f"{_index.NAME}*")}
    log.close()
    assert modes == {0}
    assert _files.chains(tmp_path / "log").keys() == {"w0"}
