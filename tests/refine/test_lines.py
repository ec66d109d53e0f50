"""Files of whole lines, whatever a crash has left of them."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from gateway.refine._entry import QueueFault
from gateway.refine._lines import append, locked, read, replace


def test_lines_come_back_in_order_and_only_the_owner_may_read_them(tmp_path: Path) -> None:
    path = tmp_path / "a"
    append(path, [b"1", b"2"])
    append(path, [b"3"])
    assert read(path) == ([b"1", b"2", b"3"], 0)
    assert path.stat().st_mode & 0o777 == 0o600
    assert read(tmp_path / "none") == ([], 0)


def test_a_torn_line_is_told_and_what_follows_stands_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "a"
    append(path, [b"1"])
    path.write_bytes(path.read_bytes() + b"tor")
    assert read(path) == ([b"1"], 1)
    append(path, [b"2"])
    assert read(path) == ([b"1", b"tor", b"2"], 0)


def test_replacing_is_all_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a"
    append(path, [b"1"])
    replace(path, [b"2", b"3"])
    assert read(path) == ([b"2", b"3"], 0)
    assert [file.name for file in tmp_path.iterdir()] == ["a"]


def test_readers_share_the_lock_and_a_writer_has_it_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.files._PATIENCE", 0.05)
    path = tmp_path / "deep" / "a"
    with locked(path, shared=True), locked(path, shared=True), pytest.raises(QueueFault) as told, locked(path):
        raise AssertionError("two had it")
    assert told.value.kind == "locked"
    with locked(path):
        append(path, [b"1"])


def test_a_place_that_cannot_be_written_is_a_fault_of_the_queue(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(QueueFault) as told, locked(tmp_path / "file" / "a"):
        raise AssertionError("there is no such place")
    assert told.value.kind == "unwritable"


def write(path: Path, name: int) -> None:
    for n in range(50):
        with locked(path):
            append(path, [f"{name}-{n}".encode() * 50])


def test_many_processes_write_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "a"
    spawn = multiprocessing.get_context("fork")
    processes = [spawn.Process(target=write, args=(path, n)) for n in range(3)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(20)
    lines, torn = read(path)
    assert torn == 0
    assert sorted(lines) == sorted(f"{name}-{n}".encode() * 50 for name in range(3) for n in range(50))
