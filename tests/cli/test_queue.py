"""Whatever keeps a reviewer from the queue is told with file, line, field and fix."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from gateway.cli._queue import FIXES
from tests.cli.inside import said
from tests.cli.queues import CHINESE, FILE, URL, configured, fill
from tests.redis_server import redis_server
from tests.rig import regex, write_config

ALL = (("list",), ("take", "--reviewer", "Li"), ("done", "x", "--verdict", "right"))


def complaint(config: str, commands: Sequence[Sequence[str]] = ALL) -> str:
    for words in commands:
        told = said("review", *words, "-c", config)
        assert (told.exit_code, told.stdout) == (1, "")
    return told.stderr


def test_no_file_says_what_is_read_once_more(tmp_path: Path) -> None:
    config = str(write_config(tmp_path, URL, []))
    told = complaint(config)
    assert f"{config} refine\n" in told
    assert "refine: refine.yaml" in told


def test_the_file_names_no_queue(tmp_path: Path) -> None:
    told = complaint(configured(tmp_path))
    assert f"{tmp_path}/refine.yaml:1 queue\n" in told
    assert "queue: {type: file" in told


def test_a_file_that_is_missing_or_wrong(tmp_path: Path) -> None:
    config = configured(tmp_path, queue={"type": "fiel", "path": "x"})
    assert re.search(r"refine\.yaml:\d+ queue\n.*unknown type 'fiel'", complaint(config))
    (tmp_path / "refine.yaml").unlink()
    assert "there is no such file" in complaint(config)


def test_a_server_that_is_away(tmp_path: Path) -> None:
    config = configured(tmp_path, queue={"type": "redis", "url": "redis://127.0.0.1:1/0"})
    told = complaint(config)
    assert re.search(r"refine\.yaml:\d+ queue\n  the queue can't be used: unreachable\n", told)
    assert FIXES["unreachable"] in told


def test_a_server_that_says_no(tmp_path: Path) -> None:
    with redis_server() as server:
        server.ask("SET", "taken", "by something else")
        config = configured(tmp_path, queue={"type": "redis", "url": server.url, "stream": "taken"})
        assert FIXES["refused"] in complaint(config, ALL[:2])


def test_a_server_that_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.refine._queue_redis._PATIENCE", 0.1)
    with redis_server() as server:
        server.freeze()
        assert FIXES["timeout"] in complaint(configured(tmp_path, queue={"type": "redis", "url": server.url}))


def test_a_place_that_can_t_be_written(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("a file where a folder should be")
    told = complaint(configured(tmp_path, queue={"type": "file", "path": "plain/waiting.jsonl"}))
    assert str(tmp_path / "plain") in told
    assert FIXES["unwritable"] in told


def test_no_password_is_ever_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUEUE_URL", "redis://:hunter2@127.0.0.1:1/0")
    told = complaint(configured(tmp_path, queue={"type": "redis", "url_env": "QUEUE_URL"}))
    assert "unreachable" in told
    assert "hunter2" not in told


def test_a_rule_that_is_being_mended_keeps_nobody_from_his_work(tmp_path: Path) -> None:
    config = configured(tmp_path, queue=FILE)
    write_config(tmp_path, URL, [regex("a*")], refine="refine.yaml")
    assert said("check", config).exit_code == 1
    fill(config, [CHINESE])
    assert "1 wait" in said("review", "list", "-c", config).stdout
