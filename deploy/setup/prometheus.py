"""Prometheus and its promtool, for `make watch` and for the tests of the alerts: those on PATH, else Debian's package.

    programs = ensure()
    programs.prometheus, programs.promtool

Nothing here runs a server. The gateway needs none of it: it only answers on /metrics.
"""

import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from deploy.setup import debian
from deploy.setup.say import SetupError, run, step

NAME = "prometheus"
OLDEST = (2, 42)
"""The first that knows keep_firing_for, which the alerts use."""


class Programs(NamedTuple):
    """Where they are."""

    prometheus: Path
    promtool: Path


def ensure() -> Programs:
    """Both programs, brought here if they are nowhere. Raises SetupError with what to do."""
    found = debian.ensured(NAME, _found, _brought)
    _require_new(found.promtool)
    return found


def _found() -> Programs | None:
    """On PATH, or where we have unpacked them."""
    if (server := shutil.which(NAME)) and (tool := shutil.which("promtool")):
        return Programs(Path(server), Path(tool))
    where = debian.unpacked(NAME)
    return _in(where) if where is not None else None


def _in(where: Path) -> Programs:
    return Programs(where / "usr" / "bin" / NAME, where / "usr" / "bin" / "promtool")


def _brought() -> Programs | None:
    if not debian.here():
        raise SetupError(
            f"There is no {NAME} with its promtool on PATH, and only Debian's and Ubuntu's package can be set up here.",
            f"install it (brew install {NAME}, or a release of prometheus.io), then run the same command again.",
        )
    with step(NAME) as s:
        if not debian.by_root():
            found = _in(debian.unpack(NAME, s.now))
            s.done("unpacked into the cache; for its own web pages root must install the package")
            return found
        debian.install(NAME, s.now)
        s.done("installed; its service was not started")
    return _found()


def _require_new(promtool: Path) -> None:
    done = subprocess.run([promtool, "--version"], capture_output=True, text=True, check=False)
    version = re.search(r"version (\d+)\.(\d+)", done.stdout + done.stderr)
    if version is None or (int(version[1]), int(version[2])) < OLDEST:
        told = version[0] if version else f"{promtool} --version says nothing"
        raise SetupError(
            f"Prometheus is too old ({told}): the alerts need {OLDEST[0]}.{OLDEST[1]} or newer.",
            "put a newer one before it on PATH (see prometheus.io), then run the same command again.",
        )


def main() -> None:
    """`python3 -m deploy.setup.prometheus`."""
    ensure()


if __name__ == "__main__":
    run(main)
