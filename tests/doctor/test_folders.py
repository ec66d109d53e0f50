"""Folders: room, what a synced write takes, and nothing left behind."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from gateway.doctor.folders import folder


def test_a_folder_tells_its_room_and_is_left_as_it_was(tmp_path: Path) -> None:
    told = folder("audit", tmp_path)
    assert (told.use, told.path, told.why) == ("audit", str(tmp_path), "")
    assert 0 < told.free <= told.total
    assert told.fsync is not None
    assert told.fsync >= 0
    assert list(tmp_path.iterdir()) == []


def test_one_that_is_not_there_yet_is_tried_where_it_will_be(tmp_path: Path) -> None:
    told = folder("audit", tmp_path / "not" / "yet")
    assert (told.why, told.path) == ("", str(tmp_path / "not" / "yet"))
    assert told.total == folder("audit", tmp_path).total
    assert not (tmp_path / "not").exists()


def test_where_nobody_can_write_the_system_s_word_is_told() -> None:
    words = {os.strerror(errno.ENOENT), os.strerror(errno.EACCES)}  # to root, and to others
    assert folder("audit", Path("/proc/self")).why in words


def test_memory_is_no_disk() -> None:
    assert folder("pool", Path("/dev/shm")).memory
    assert not folder("rules", Path(__file__).parent).memory
