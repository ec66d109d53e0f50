"""A chain on disk: begun, gone on with, mended after a crash, turned over."""

from __future__ import annotations

import logging
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gateway.audit._log import Bounds, Log
from gateway.audit.proof import verified
from tests.audit.logs import HOUSE, LARGE, USUAL, exchange, kinds, lines, name, reuse, write


def whole(folder: Path) -> bool:
    return all(chain.broken is None for chain in verified(folder))


def test_a_log_begins_and_ends_with_a_line_that_says_so(tmp_path: Path) -> None:
    write(tmp_path, [exchange(1)])
    start, _, stop = lines(tmp_path)
    assert (start["kind"], start["worker"], start["clean"], start["torn"]) == ("start", "w0", True, None)
    assert start["pid"] == os.getpid()
    assert stop["kind"] == "stop"
    assert whole(tmp_path)


def test_the_next_process_goes_on_with_the_chain(tmp_path: Path) -> None:
    write(tmp_path, [exchange(1)])
    write(tmp_path, [exchange(2)])
    assert kinds(tmp_path) == ["start", "exchange", "stop", "start", "exchange", "stop"]
    assert [line["clean"] for line in lines(tmp_path) if line["kind"] == "start"] == [True, True]
    assert whole(tmp_path)


def killed(folder: Path, torn: bytes) -> None:
    """A log whose process was killed while it wrote."""
    log = Log(folder, USUAL)
    log.append([exchange(1), exchange(2)])
    log._release()
    path = folder / "w0-00000001.jsonl"
    path.write_bytes(path.read_bytes() + torn)


def test_a_torn_line_is_set_aside_and_the_chain_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    killed(tmp_path, b'{"seq":4,"prev":"abc')
    with caplog.at_level(logging.WARNING):
        write(tmp_path, [exchange(3)])
    start = lines(tmp_path)[3]
    assert (start["clean"], start["lacks"], start["unsynced_ms"]) == (False, 0, 20)
    assert start["torn"] == {"file": "w0-00000001.jsonl", "bytes": 20}
    assert (tmp_path / "w0-00000001.torn").read_bytes() == b'{"seq":4,"prev":"abc\n'
    assert "20 bytes of a torn line" in caplog.text
    assert whole(tmp_path)


def test_a_process_that_was_killed_between_lines_is_told_as_well(tmp_path: Path) -> None:
    killed(tmp_path, b"")
    write(tmp_path, [])
    start = lines(tmp_path)[3]
    assert (start["clean"], start["torn"]) == (False, None)


def test_lines_that_a_power_failure_took_are_counted(tmp_path: Path) -> None:
    write(tmp_path, [exchange(1), exchange(2)])
    path = tmp_path / "w0-00000001.jsonl"
    kept = path.read_bytes().splitlines(keepends=True)[:2]
    path.write_bytes(b"".join(kept))
    write(tmp_path, [])
    start = lines(tmp_path)[2]
    assert (start["clean"], start["lacks"]) == (False, 2)
    assert whole(tmp_path)


def test_a_last_file_that_holds_nothing_good_is_gone_on_with(tmp_path: Path) -> None:
    write(tmp_path, [exchange(1)])
    (tmp_path / "w0-00000002.jsonl").write_bytes(b"\0" * 100)
    write(tmp_path, [exchange(2)])
    assert kinds(tmp_path) == ["start", "exchange", "stop", "start", "exchange", "stop"]
    assert whole(tmp_path)


def test_a_full_file_is_followed_by_the_next_and_the_oldest_make_room(tmp_path: Path) -> None:
    log = Log(tmp_path, Bounds(2000, 3, "rotate", 0.02))
    log.stick(HOUSE)
    for number in range(40):
        log.append([exchange(number)])
    log.close()
    files = sorted(path.name for path in tmp_path.glob("*.jsonl"))
    assert len(files) == 3
    assert files[0] > "w0-00000001.jsonl"
    told = lines(tmp_path)
    assert told[0]["kind"] == "open"
    assert told[1]["revision"] == HOUSE["revision"]
    assert [line["upto"] for line in told if line["kind"] == "given_up"]
    assert whole(tmp_path)


def test_captures_are_chained_over_restarts(tmp_path: Path) -> None:
    write(tmp_path, [reuse(1)])
    write(tmp_path, [reuse(2, donor=1)])
    first, second = [line for line in lines(tmp_path) if line["kind"] == "reuse"]
    assert second["kv"]["prev"] == first["kv"]["hash"]
    assert whole(tmp_path)


@contextmanager
def room(size: int) -> Iterator[None]:
    """No file may grow beyond this: the disk is full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("fsync", ["line", "batch", "rotate"])
def test_what_finds_no_room_leaves_nothing_behind(tmp_path: Path, fsync: str) -> None:
    log = Log(tmp_path, Bounds(LARGE, 16, fsync, 0.02))  # type: ignore[arg-type]
    log.append([exchange(1)])
    before = (tmp_path / "w0-00000001.jsonl").read_bytes()
    with room(len(before) + 100), pytest.raises(OSError, match="large"):
        log.append([exchange(2)])
    assert (tmp_path / "w0-00000001.jsonl").read_bytes() == before
    log.append([exchange(3)])
    log.close()
    assert [line["id"] for line in lines(tmp_path) if line["kind"] == "exchange"] == [name(1), name(3)]
    assert whole(tmp_path)


def test_all_files_are_their_owner_s_alone(tmp_path: Path) -> None:
    killed(tmp_path / "log", b"torn")
    write(tmp_path / "log", [])
    assert {path.stat().st_mode & 0o777 for path in (tmp_path / "log").iterdir()} == {0o600}
