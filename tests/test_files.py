"""Files that processes share: whole or as they were, changed by one at a time, led by one at most."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gateway import files


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_file_is_replaced_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    files.replace(path, b"one")
    files.replace(path, "zwei\n二".encode())
    assert path.read_bytes() == "zwei\n二".encode()
    assert names(tmp_path) == {"a.yaml"}


def test_a_new_file_has_the_usual_mode_and_an_old_one_keeps_its_own(tmp_path: Path) -> None:
    path, usual = tmp_path / "a", tmp_path / "b"
    usual.touch()
    files.replace(path, b"1")
    assert mode(path) == mode(usual)
    path.chmod(0o640)
    files.replace(path, b"2")
    assert mode(path) == 0o640


def test_a_mode_that_is_given_holds_whatever_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.touch(0o666)
    files.replace(path, b"1", files.PRIVATE)
    assert mode(path) == 0o600


def test_who_reads_an_old_one_reads_it_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "a"
    files.replace(path, b"old")
    with path.open("rb") as file:
        files.replace(path, b"another")
        assert file.read() == b"old"


def test_what_can_t_be_written_is_named_and_stays_as_it_was(tmp_path: Path) -> None:
    for path, said in (
        (tmp_path / "away" / "a", FileNotFoundError),
        (tmp_path / "file" / "a", NotADirectoryError),
        (tmp_path / "folder", IsADirectoryError),
    ):
        (tmp_path / "file").write_bytes(b"")
        (tmp_path / "folder").mkdir(exist_ok=True)
        with pytest.raises(said) as told:
            files.replace(path, b"1")
        assert told.value.filename == str(path)
        assert names(tmp_path) == {"file", "folder"}


def test_a_full_disk_leaves_the_old_one(tmp_path: Path) -> None:
    path = tmp_path / "a"
    files.replace(path, b"old")
    read = f"""
import resource
from pathlib import Path
from gateway import files
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    files.replace(Path({str(path)!r}), b"x" * 2000)
except OSError as fault:
    print(fault.filename)
"""
    told = subprocess.run([sys.executable, "-c", read], capture_output=True, text=True, check=True)
    assert told.stdout == f"{path}\n"
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == {"a"}


def test_many_may_replace_one_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a"
    texts = [bytes([65 + number]) * 10_000 for number in range(8)]
    writers = [threading.Thread(target=files.replace, args=(path, text)) for text in texts]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert path.read_bytes() in texts
    assert names(tmp_path) == {"a"}


def test_a_lock_is_one_s_alone_or_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_PATIENCE", 0.05)
    path = tmp_path / "a"
    with (
        files.locked(path, shared=True),
        files.locked(path, shared=True),
        pytest.raises(TimeoutError),
        files.locked(path),
    ):
        raise AssertionError("two had it")
    with files.locked(path), pytest.raises(TimeoutError), files.locked(path, shared=True):
        raise AssertionError("two had it")
    with files.locked(path):
        assert names(tmp_path) == {"a.lock"}


def test_a_lock_goes_with_whoever_fails_under_it(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="mine"), files.locked(tmp_path / "a"):
        raise ValueError("mine")
    with files.locked(tmp_path / "a"):
        assert names(tmp_path) == {"a.lock"}


def test_one_leads_and_the_next_when_it_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "policies.yaml"
    first = files.lead(path)
    assert first is not None
    assert files.lead(path) is None
    os.close(first)
    second = files.lead(path)
    assert second is not None
    os.close(second)


def test_where_no_lock_can_be_had_no_file_stays_open(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(FileNotFoundError):
        files.lead(tmp_path / "away" / "a")
    assert len(os.listdir("/proc/self/fd")) == before
