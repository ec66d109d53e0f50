"""`retrace report`: the page of an exchange, as a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.audit.logs import HOUSE, exchange, name, reuse, write
from tests.audit.stories import BUSY
from tests.cli.inside import said
from tests.rig import write_config


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "audit", [HOUSE, exchange(1), reuse(1), exchange(7, **BUSY), reuse(7, donor=1)])
    return str(write_config(tmp_path, ["http://127.0.0.1:1"], [], audit={}))


def test_a_page_is_written_under_the_exchange_s_name(config: str, tmp_path: Path) -> None:
    told = said("report", name(7), "-c", config)
    assert (told.exit_code, told.stdout.strip()) == (0, f"{name(7)}.html")
    path = tmp_path / f"{name(7)}.html"
    assert path.stat().st_mode & 0o777 == 0o600
    assert "Report on an exchange" in path.read_text(encoding="utf-8")


def test_it_speaks_the_language_that_is_asked_for_and_goes_where_it_is_told(config: str, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    out.write_text("old")
    out.chmod(0o644)
    id_of_message = name(7).replace("rt-", "msg_")
    told = said("report", id_of_message, "--lang", "zh", "--out", str(out), "--folder", str(tmp_path / "audit"))
    assert (told.exit_code, told.stdout.strip()) == (0, str(out)), config
    assert "对话处理报告" in out.read_text(encoding="utf-8")
    assert out.stat().st_mode & 0o777 == 0o600


def test_an_exchange_that_the_log_does_not_hold_is_told(config: str) -> None:
    told = said("report", "rt-nothing", "-c", config)
    assert told.exit_code == 1
    assert "holds no exchange rt-nothing" in told.stderr
    assert "x-retrace-id" in told.stderr


def test_a_page_of_a_broken_log_is_made_and_says_so(config: str, tmp_path: Path) -> None:
    path = tmp_path / "audit" / "w0-00000001.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"tier":"standard"', b'"tier":"Standard"', 1))
    told = said("report", name(7), "-c", config)
    assert told.exit_code == 0
    assert "the log is broken" in told.stderr
    assert "is broken at" in (tmp_path / f"{name(7)}.html").read_text(encoding="utf-8")


def test_without_a_browser_a_pdf_is_not_made_and_the_fix_is_told(config: str, tmp_path: Path) -> None:
    told = said("report", name(7), "--pdf", "-c", config, PATH=str(tmp_path))
    assert told.exit_code == 1
    assert "make setup-chromium" in told.stderr
    assert not (tmp_path / f"{name(7)}.pdf").exists()


def test_a_file_that_can_t_be_written_is_told(config: str, tmp_path: Path) -> None:
    told = said("report", name(7), "--out", str(tmp_path / "no" / "page.html"), "-c", config)
    assert told.exit_code == 1
    assert "can't be written" in told.stderr
