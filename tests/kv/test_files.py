"""Data files: records in their places, and the locks that say who may do what."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.kv._files import HEADER, Files, Lease, Torn, checked, own
from gateway.kv.nouns import Entry, State
from tests.kv.pools import OWNER

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


def leased(files: Files, records: list[bytes]) -> Lease:
    for index, record in enumerate(records):
        files.write("a", index, memoryview(record))
    fd = files.share("a")
    assert fd is not None
    size = len(records[0])
    entry = Entry("a", OWNER, State.KEPT, 4, size, holes=(0,) * len(records))
    return Lease(fd, entry, [zlib.crc32(record) for record in records])


@pytest.mark.parametrize("id", ["a", "A-z_09", "x" * 64])
def test_an_id_may_be_a_file_s_name(id: str) -> None:
    assert checked(id) == id


@pytest.mark.parametrize("id", ["", "x" * 65, "../a", "a.b", "a b", "a\n", "é", "\0", "/"])
def test_an_id_that_could_leave_the_folder_is_refused(id: str) -> None:
    with pytest.raises(ValueError, match="1 to 64 characters"):
        checked(id)


def test_a_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    folder = own(tmp_path / "deep" / "pool")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert own(folder) == folder


def test_what_is_no_folder_of_ours_is_refused_with_advice(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="RETRACE_POOL"):
        own(tmp_path / "file")
    with pytest.raises(ValueError, match="name another one"):
        own(tmp_path / "file" / "below")
    (tmp_path / "link").symlink_to(own(tmp_path / "real"))
    with pytest.raises(ValueError, match="not a folder of this user's own"):
        own(tmp_path / "link")
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o755)
    with pytest.raises(ValueError, match="chmod 700"):
        own(tmp_path / "open")
    assert (tmp_path / "open").stat().st_mode & 0o777 == 0o755


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a folder somebody else's")
def test_somebody_else_s_folder_is_refused(tmp_path: Path) -> None:
    os.chown(own(tmp_path / "theirs"), 12345, 12345)
    with pytest.raises(ValueError, match="not a folder of this user's own"):
        own(tmp_path / "theirs")


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


def test_a_record_that_is_not_what_was_written_is_torn(files: Files) -> None:
    with leased(files, [b"1234", b"5678"]) as lease:
        with files.path("a").open("r+b") as file:
            file.seek(HEADER + 5)
            file.write(b"x")
        into = bytearray(4)
        lease.read(0, into)
        with pytest.raises(Torn, match="block 1 of a is not what was written"):
            lease.read(1, into)
        os.truncate(files.path("a"), HEADER + 7)
        with pytest.raises(Torn, match="short"):
            lease.read(1, into)
        for index in (-1, 2):
            with pytest.raises(Torn, match="no block"):
                lease.read(index, into)


def test_a_lease_says_how_it_is_used(files: Files) -> None:
    lease = leased(files, [b"1234"])
    for wrong in (bytearray(3), bytearray(5)):
        with pytest.raises(ValueError, match="4 bytes"):
            lease.read(0, wrong)
    lease.close()
    lease.close()
    with pytest.raises(ValueError, match="closed"):
        lease.read(0, bytearray(4))


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
