"""Names that may be those of files, and folders that nobody else may enter."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gateway.kv._names import checked, ids, own


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


def test_of_a_folder_s_files_only_those_of_our_form_are_captures(tmp_path: Path) -> None:
    for name in ("a.kv", "B-_9.kv", ".kv", "a.b.kv", "a b.kv", "a.kv.zst", "x" * 65 + ".kv"):
        (tmp_path / name).touch()
    assert sorted(ids(tmp_path, ".kv")) == ["B-_9", "a"]
    assert ids(tmp_path, ".kv.zst") == ["a"]
    assert ids(tmp_path / "gone", ".kv") == []
