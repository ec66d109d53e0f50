"""`retrace audit`: a log is verified and indexed by whoever may read it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gateway.audit import _index
from tests.audit.logs import exchange, write
from tests.cli.inside import said
from tests.rig import write_config

FILE = "w0-00000001.jsonl"


@pytest.fixture
def config(tmp_path: Path) -> str:
    write(tmp_path / "audit", (exchange(n) for n in range(20)))
    return str(write_config(tmp_path, ["http://127.0.0.1:1"], [], audit={}))


def damage(folder: Path) -> Path:
    path = folder / "audit" / FILE
    path.write_bytes(path.read_bytes().replace(b'"seed":7', b'"seed":8', 1))
    return path


def test_a_whole_log_is_said_to_be_whole(config: str) -> None:
    told = said("audit", "verify", "-c", config)
    assert told.exit_code == 0, told.stderr
    assert "whole" in told.stdout
    assert "22 lines in 1 files, numbers 1 to 22" in told.stdout


def test_the_first_break_is_told_with_its_place_and_meaning(config: str, tmp_path: Path) -> None:
    path = damage(tmp_path)
    told = said("audit", "verify", "-c", config)
    assert told.exit_code == 1
    assert f"{path}:2: changed: line 2 was changed" in told.stdout
    assert "nothing behind that place is proven" in told.stdout


def test_a_folder_may_be_named(config: str, tmp_path: Path) -> None:
    assert config
    told = said("audit", "verify", str(tmp_path / "audit"))
    assert told.exit_code == 0, told.stderr


def test_programs_get_lines(config: str, tmp_path: Path) -> None:
    (line,) = map(json.loads, said("audit", "verify", "--json", "-c", config).stdout.splitlines())
    assert (line["worker"], line["lines"], line["whole"], line["last"]) == ("w0", 22, True, 22)
    path = damage(tmp_path)
    told = said("audit", "verify", "--json", "-c", config)
    (line,) = map(json.loads, told.stdout.splitlines())
    assert told.exit_code == 1
    assert (line["whole"], line["break"]["file"], line["break"]["line"]) == (False, str(path), 2)


def test_what_the_log_owns_up_to_is_told(config: str, tmp_path: Path) -> None:
    write(tmp_path / "audit", [exchange(1, lost=3)])
    told = said("audit", "verify", "-c", config)
    assert told.exit_code == 0
    assert "3 lines could not be written and are lost" in told.stdout


def test_the_index_is_brought_up_to_date(config: str, tmp_path: Path) -> None:
    assert re.search(r"22 lines more", said("audit", "index", "-c", config).stdout)
    assert re.search(r" 0 lines more", said("audit", "index", "-c", config).stdout)
    assert (tmp_path / "audit" / _index.NAME).exists()


@pytest.mark.parametrize("command", ["verify", "index"])
def test_without_a_log_it_is_said_how_to_keep_one(tmp_path: Path, command: str) -> None:
    config = str(write_config(tmp_path, ["http://127.0.0.1:1"], []))
    told = said("audit", command, "-c", config)
    assert told.exit_code == 1
    assert "there is no audit log" in told.stderr
    assert "audit: {}" in told.stderr
    nowhere = said("audit", command, str(tmp_path / "nowhere"))
    assert nowhere.exit_code == 1
    assert "w0-00000001.jsonl" in nowhere.stderr


def test_an_index_that_can_t_be_used_is_told_with_the_fix(config: str, tmp_path: Path) -> None:
    (tmp_path / "audit" / _index.NAME).mkdir()
    told = said("audit", "index", "-c", config)
    assert told.exit_code == 1
    assert "can't be" in told.stderr
