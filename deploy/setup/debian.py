"""Programs out of Debian's packages: root installs them, without starting a service; anybody else unpacks them into the
cache, where they lie beside what this set-up keeps.

    debian.install("prometheus", now)                # by root
    folder = debian.unpack("prometheus", now)        # folder / "usr/bin/prometheus"
    program = debian.ensured("redis-server", found, bring)
"""

import contextlib
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from deploy.setup.paths import cache
from deploy.setup.say import SetupError
from deploy.setup.turns import exclusively

POLICY = Path("/usr/sbin/policy-rc.d")
"""What Debian's packages ask before they start a service; status 101 forbids it."""
RELEASE = Path("/etc/os-release")
MARKER = "complete"

Tell = Callable[[str], None]
T = TypeVar("T")


def ensured(name: str, found: Callable[[], T | None], bring: Callable[[], T | None]) -> T:
    """What `found` finds here, else what one at a time may `bring`. Raises SetupError if it is nowhere even then."""
    if there := found():
        return there
    with exclusively(cache() / f"{name}.lock", name):
        there = found() or bring()
    if there:
        return there
    raise SetupError(f"{name} was installed, but PATH does not lead to it.", "add its folder to PATH.")


def here() -> bool:
    """Whether this machine has Debian's packages."""
    return bool(shutil.which("apt-get") and shutil.which("dpkg-deb"))


def by_root() -> bool:
    """Whether we may install."""
    return os.geteuid() == 0


def install(package: str, now: Tell) -> None:
    """Install a package and what it depends on. Raises SetupError with what apt said."""
    now("installing Debian's package")
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", package]
    with _no_service_started():
        if _run(command) is None:
            return
        now("renewing the list of packages")  # missing, or older than what the mirror still has
        wrong = _run(["apt-get", "update", "-qq"]) or _run(command)
    if wrong:
        raise _failed(package, wrong)


def unpacked(package: str) -> Path | None:
    """Where a package was unpacked earlier, if it was."""
    return where if ((where := _folder(package)) / MARKER).is_file() else None


def unpack(package: str, now: Tell) -> Path:
    """The folder with the package's files, fetched and unpacked. apt checks what it fetches against the archive's own
    hashes. Raises SetupError with what apt said.
    """
    where = _folder(package)
    shutil.rmtree(where, ignore_errors=True)  # what an interrupted set-up left behind
    with tempfile.TemporaryDirectory(dir=cache()) as folder:
        now("fetching Debian's package")
        if wrong := _run(["apt-get", "download", "-qq", package], Path(folder)):
            raise _failed(package, wrong)
        (deb,) = Path(folder).glob("*.deb")
        now("unpacking it")
        if wrong := _run(["dpkg-deb", "-x", str(deb), str(where)]):
            raise _failed(package, wrong)
    (where / MARKER).touch()
    return where


def _folder(package: str) -> Path:
    """One for each release and kind of machine: a new release has another package."""
    recipe = [platform.machine(), RELEASE.read_text() if RELEASE.is_file() else ""]
    return cache() / f"{package}-{hashlib.sha256(chr(10).join(recipe).encode()).hexdigest()[:12]}"


def _run(command: Sequence[str], folder: Path | None = None) -> str | None:
    """What went wrong, if something did."""
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(
        command, env=quiet, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    return f"`{' '.join(command)}` failed:\n{done.stderr.strip()}" if done.returncode else None


def _failed(package: str, wrong: str) -> SetupError:
    return SetupError(
        wrong,
        f"look whether this machine reaches a Debian mirror (apt-get update). If it must not, bring the programs of "
        f"the package {package} along yourself and put their folder on PATH. Then run the same command again.",
    )


@contextlib.contextmanager
def _no_service_started() -> Iterator[None]:
    """Nobody asked for a server. A policy that the machine has already is left as it is."""
    if POLICY.exists() or POLICY.is_symlink():
        yield
        return
    POLICY.write_text("#!/bin/sh\nexit 101\n")
    try:
        POLICY.chmod(0o755)
        yield
    finally:
        POLICY.unlink(missing_ok=True)
