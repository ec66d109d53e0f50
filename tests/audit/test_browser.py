"""A page as a PDF, by a real browser."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from deploy.setup.chromium import ensure
from gateway.audit import browser
from gateway.audit.browser import BrowserFault, printed
from gateway.audit.page import rendered
from tests.audit.stories import busy


def test_without_a_browser_it_is_said_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BrowserFault, match="make setup-chromium"):
        printed("<p>", tmp_path / "x.pdf")
    assert not (tmp_path / "x.pdf").exists()


def program(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A program of the browser's name."""
    path = folder / "bin" / "chromium"
    path.parent.mkdir()
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}{os.pathsep}{os.environ['PATH']}")


def test_a_browser_that_fails_is_told_with_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, monkeypatch, "echo it broke >&2; exit 3")
    with pytest.raises(BrowserFault, match=r"exit code 3\): it broke"):
        printed("<p>", tmp_path / "x.pdf")
    assert not (tmp_path / "x.pdf").exists()


def test_a_browser_that_prints_nothing_has_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, monkeypatch, "exit 0")
    with pytest.raises(BrowserFault, match="did not print"):
        printed("<p>", tmp_path / "x.pdf")


@pytest.mark.engine  # a browser takes seconds to start, and a core of its own
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_real_browser_prints_and_shows_the_page(tmp_path: Path, language: str) -> None:
    ensure()
    html = rendered(busy(tmp_path / "log"), language)  # type: ignore[arg-type]
    out = tmp_path / "page.pdf"
    printed(html, out)
    data = out.read_bytes()
    assert data.startswith(b"%PDF-")
    assert data.rstrip().endswith(b"%%EOF")
    assert len(data) > 20_000
    assert out.stat().st_mode & 0o777 == 0o600
    picture = tmp_path / "page.png"
    browser._shown(html, picture, f"--screenshot={picture}", "--window-size=1000,1400")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 50_000
