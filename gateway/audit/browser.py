"""A page as a PDF, printed by Chromium where there is one."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SECONDS = 60.0
_FLAGS = (
    *("--headless=new", "--disable-gpu", "--no-first-run", "--disable-extensions", "--disable-background-networking"),
    *("--no-pdf-header-footer", "--disable-dev-shm-usage", "--hide-scrollbars"),
)


class BrowserFault(Exception):
    """There is no browser, or it did not print; says what to do."""


def found() -> Path | None:
    """The browser on PATH."""
    return next((Path(path) for name in NAMES if (path := shutil.which(name))), None)


def printed(html: str, out: Path) -> None:
    """Write the page as a PDF, readable to its owner alone. BrowserFault if that can't be done."""
    _shown(html, out, f"--print-to-pdf={out.resolve()}")


def _shown(html: str, out: Path, *how: str) -> None:
    program = found()
    if program is None:
        raise BrowserFault(
            "there is no Chromium on PATH to print with; install it (apt-get install chromium fonts-noto-cjk, or "
            "`make setup-chromium`), or leave --pdf out and print the page from any browser"
        )
    with tempfile.TemporaryDirectory(prefix="retrace-page-") as folder:
        page = Path(folder) / "page.html"
        page.write_text(html, encoding="utf-8")
        boxed = () if os.geteuid() else ("--no-sandbox",)  # Chromium has none for root; the page runs no script
        words = [str(program), *_FLAGS, *boxed, f"--user-data-dir={folder}/profile", *how, page.as_uri()]
        os.close(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired as fault:
            raise BrowserFault(f"{program} did not print within {SECONDS:g} s; try once more") from fault
        if done.returncode or not out.stat().st_size:
            out.unlink()
            raise BrowserFault(f"{program} did not print (exit code {done.returncode}): {done.stderr[-300:].strip()}")
