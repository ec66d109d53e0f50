"""Chromium, which prints reports (`retrace report --pdf`), and letters for Chinese: what is there, else Debian's.

    program = ensure()                       # Path("/usr/bin/chromium")

Everything else of the gateway does without a browser.
"""

import shutil
import subprocess
from pathlib import Path

from deploy.setup import debian
from deploy.setup.say import SetupError, run, step

NAME = "chromium"
NAMES = (NAME, "chromium-browser", "google-chrome", "google-chrome-stable")
LETTERS = "fonts-noto-cjk"


def ensure() -> Path:
    """Where the program is, installed if it is nowhere. Raises SetupError with what to do."""
    return debian.ensured(NAME, lambda: _program() if _has_letters() else None, _brought)


def _program() -> Path | None:
    return next((Path(found) for name in NAMES if (found := shutil.which(name))), None)


def _has_letters() -> bool:
    """Whether a page in Chinese could be shown. Where nobody can tell, it is believed."""
    if not shutil.which("fc-list"):
        return bool(_program()) and not debian.here()
    done = subprocess.run(["fc-list", ":lang=zh-cn", "family"], capture_output=True, text=True, check=False)
    return bool(done.stdout.strip())


def _brought() -> Path | None:
    if not debian.here() or not debian.by_root():
        raise SetupError(
            f"There is no {NAME} on PATH (or no font with Chinese letters), and only root on Debian or Ubuntu can "
            "install them from here.",
            f"install them (apt-get install {NAME} {LETTERS}; brew install --cask {NAME}), then run the same command "
            "again.",
        )
    with step(NAME) as s:
        if not _program():
            debian.install(NAME, s.now)
        debian.install(LETTERS, s.now)
        s.done("installed, with a font for Chinese")
    return _program()


def main() -> None:
    """`python3 -m deploy.setup.chromium`."""
    ensure()


if __name__ == "__main__":
    run(main)
