"""The second tier: what is stored comes back, or is said to be torn."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.kv._disk import Disk
from gateway.kv._held import Torn


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    return Disk(tmp_path / "disk")


def stored(disk: Disk, data: bytes) -> int:
    """Bytes taken."""
    source = os.memfd_create("source")
    try:
        os.write(source, data)
        return disk.store("a", source)
    finally:
        os.close(source)


def loaded(disk: Disk, size: int) -> bytes:
    target = os.memfd_create("target")
    try:
        disk.load("a", target, size)
        return os.pread(target, size + 1, 0)
    finally:
        os.close(target)


@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=5000), times=st.integers(1, 600))
def test_what_was_stored_comes_back(tmp_path_factory: pytest.TempPathFactory, data: bytes, times: int) -> None:
    disk = Disk(tmp_path_factory.mktemp("files") / "disk")
    taken = stored(disk, data * times)
    assert taken == disk.size("a") == disk.path("a").stat().st_size <= disk.most(len(data) * times)
    assert loaded(disk, len(data) * times) == data * times


@settings(max_examples=60, deadline=None)
@given(data=st.binary(min_size=1, max_size=300), at=st.integers(0), to=st.integers(0, 255), cut=st.booleans())
def test_what_was_damaged_is_torn(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, at: int, to: int, cut: bool
) -> None:
    disk = Disk(tmp_path_factory.mktemp("files") / "disk")
    stored(disk, data)
    lies = disk.path("a").read_bytes()
    at %= len(lies)
    harmed = lies[:at] if cut else lies[:at] + bytes([to]) + lies[at + 1 :]
    disk.path("a").write_bytes(harmed)
    if harmed == lies:
        assert loaded(disk, len(data)) == data
        return
    try:
        assert loaded(disk, len(data)) == data, "a header may say the same in two ways; the data may not differ"
    except Torn:
        assert harmed != lies


@pytest.mark.parametrize("size", [0, 99, 101])
def test_another_length_is_torn(disk: Disk, size: int) -> None:
    stored(disk, bytes(100))
    with pytest.raises(Torn, match="not as long"):
        loaded(disk, size)


def test_what_is_not_there_is_torn(disk: Disk) -> None:
    assert disk.size("a") is None
    with pytest.raises(Torn, match="can't be unpacked"):
        loaded(disk, 1)


def test_a_full_disk_leaves_nothing_behind(disk: Disk, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    noise = os.urandom(3 << 20)  # can't be compressed
    source = os.memfd_create("source")
    try:
        os.write(source, noise)
        request.getfixturevalue("small_files")
        with pytest.raises(OSError, match="large"):
            disk.store("a", source)
    finally:
        os.close(source)
    assert list((tmp_path / "disk").iterdir()) == []


def test_its_files_are_its_owner_s_alone(disk: Disk) -> None:
    stored(disk, b"1")
    assert disk.path("a").stat().st_mode & 0o777 == 0o600


def test_what_was_half_written_is_known_and_removed(disk: Disk, tmp_path: Path) -> None:
    stored(disk, b"1")
    (tmp_path / "disk" / "b.kv.zst.new").write_bytes(b"half")
    (tmp_path / "disk" / "notes.txt").write_text("mine")
    assert disk.ids() == ["a", "b"]
    disk.remove("b")
    assert disk.ids() == ["a"]
    disk.wipe()
    assert [path.name for path in (tmp_path / "disk").iterdir()] == ["notes.txt"]


def test_without_the_library_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(ValueError, match="pip install it, or unset"):
        Disk(tmp_path / "disk")
