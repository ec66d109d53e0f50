"""Data files: records in their places, and the locks that say who may do what."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.kv._files import Files
from gateway.kv._held import HEADER
from tests.kv.pools import leased

HOLDER = """
import sys, time
from pathlib import Path
from gateway.kv._files import Files
assert Files(Path(sys.argv[1])).share("a") is not None
print("held", flush=True)
time.sleep(60)
"""
LOOKER = """
import sys
from pathlib import Path
from gateway.kv._files import Files
files = Files(Path(sys.argv[1]))
print("looking", flush=True)
while True:
    files.being_read("a")
"""


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


@settings(max_examples=60, deadline=None)
@given(records=st.integers(1, 40).flatmap(lambda size: st.lists(st.binary(min_size=size, max_size=size), min_size=1)))
def test_what_was_written_is_read(tmp_path_factory: pytest.TempPathFactory, records: list[bytes]) -> None:
    files = Files(tmp_path_factory.mktemp("files"))
    size = len(records[0])
    with leased(files, records) as lease:
        into = bytearray(size)
        for index in reversed(range(len(records))):
            lease.read(index, memoryview(into))
            assert into == records[index]
    assert files.path("a").stat().st_size == HEADER + size * len(records)
    assert files.mend("a", len(records), size)
    assert not files.mend("a", len(records) + 1, size)
    assert not files.mend("a", 0, size + 1)


def test_what_is_read_cannot_be_claimed_nor_what_is_claimed_read(files: Files) -> None:
    with leased(files, [b"1234"]), leased(files, [b"1234"]):
        assert files.being_read("a")
        assert files.claim("a") is None
    assert not files.being_read("a")
    claim = files.claim("a")
    assert claim is not None
    assert claim.fd is not None
    with claim:
        assert files.share("a") is None
        claim.remove()
    assert files.share("a") is None
    assert not files.being_read("a")


def test_a_claim_on_a_missing_file_is_void_and_can_make_one(files: Files) -> None:
    void = files.claim("a")
    assert void is not None
    assert void.fd is None
    void.remove()
    void.close()
    made = files.claim("a", make=True)
    assert made is not None
    assert made.fd is not None
    assert files.claim("a") is None
    made.close()
    assert files.ids() == ["a"]


def test_what_is_held_is_never_a_file_that_was_removed(files: Files) -> None:
    """Between opening and locking it may go: the lock would be on a file that nobody finds, and protect nothing."""
    over = threading.Event()

    def come_and_go() -> None:
        while not over.is_set():
            files.write("a", 0, memoryview(b"1234"))
            claim = files.claim("a")
            if claim is not None:
                claim.remove()
                claim.close()

    with ThreadPoolExecutor() as pool:
        done = pool.submit(come_and_go)
        held = 0
        for _ in range(1000):
            fd = files.share("a")
            if fd is not None:
                held += os.fstat(fd).st_nlink
                files.unshare(fd)
                held -= 1
        over.set()
        done.result()
    assert held == 0


def test_who_only_looks_is_in_nobody_s_way(files: Files, tmp_path: Path) -> None:
    files.write("a", 0, memoryview(b"1234"))
    refused = 0
    with subprocess.Popen([sys.executable, "-c", LOOKER, str(tmp_path)], stdout=subprocess.PIPE) as looker:
        assert looker.stdout is not None
        assert looker.stdout.readline() == b"looking\n"
        for _ in range(1000):
            fd = files.share("a")
            if fd is None:
                refused += 1
            else:
                files.unshare(fd)
        looker.kill()
    assert refused == 0


def test_the_lock_of_a_process_that_dies_is_gone(files: Files, tmp_path: Path) -> None:
    files.write("a", 0, memoryview(b"1234"))
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(tmp_path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert files.being_read("a")
        holder.kill()
        holder.wait()
        assert not files.being_read("a")


def test_mending_cuts_off_what_was_not_published(files: Files) -> None:
    for index in range(3):
        files.write("a", index, memoryview(b"1234"))
    assert files.mend("a", 2, 4)
    assert files.path("a").stat().st_size == HEADER + 8
    assert not files.mend("b", 1, 4)
    files.path("a").write_bytes(b"x" * (HEADER + 8))
    assert not files.mend("a", 2, 4)


def test_a_first_record_replaces_what_was_there(files: Files) -> None:
    files.write("a", 0, memoryview(b"12345678"))
    files.write("a", 0, memoryview(b"1234"))
    assert files.mend("a", 1, 4)
    assert files.path("a").stat().st_size == HEADER + 4


def test_a_record_that_can_t_be_written_leaves_nothing(files: Files, small_files: int) -> None:
    half = memoryview(bytes(small_files // 2))
    files.write("a", 0, half)
    with pytest.raises(OSError, match="large"):
        files.write("a", 1, half)
    assert files.path("a").stat().st_size == HEADER + half.nbytes
    with pytest.raises(OSError, match="large"):
        files.write("b", 0, memoryview(bytes(2 * small_files)))
    assert files.path("b").stat().st_size == 0


def test_only_files_of_our_form_are_known_and_removed(files: Files, tmp_path: Path) -> None:
    files.write("a", 0, memoryview(b"1"))
    for other in ("notes.txt", "a.b.kv", ".kv", "a.kv.zst", "a b.kv"):
        (tmp_path / other).write_text("mine")
    assert files.ids() == ["a"]
    files.wipe()
    assert files.ids() == []
    assert len(list(tmp_path.iterdir())) == 5
    assert Files(tmp_path / "nowhere").ids() == []
