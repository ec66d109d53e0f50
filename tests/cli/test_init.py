"""`retrace init` writes rules that can be served, and overwrites nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.inside import said


@pytest.mark.long
def test_what_it_writes_can_be_served(tmp_path: Path) -> None:
    told = said("init", str(tmp_path / "rules"))
    assert (told.exit_code, told.stderr) == (0, "")
    assert str(tmp_path / "rules" / "gateway.yaml") in told.stdout
    assert "all right" in said("check", str(tmp_path / "rules")).stdout


def test_what_lies_there_is_left_as_it_is(tmp_path: Path) -> None:
    said("init", str(tmp_path))
    (tmp_path / "input.yaml").write_text("rules: []\n")
    told = said("init", str(tmp_path))
    assert (told.exit_code, told.stdout) == (1, "")
    assert f"{tmp_path} can't be written: File exists; name another folder" in told.stderr
    assert (tmp_path / "input.yaml").read_text() == "rules: []\n"


def test_a_place_that_can_t_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told = said("init", str(tmp_path / "file" / "rules"))
    assert told.exit_code == 1
    assert "can't be written: Not a directory" in told.stderr
