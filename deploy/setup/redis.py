"""A redis-server for tests: the one on PATH, else Debian's package, installed without starting its service.

    program = ensure()                       # Path("/usr/bin/redis-server")

The gateway itself needs no Redis; whoever uses one brings it along. So nothing here ever runs a server.
"""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from deploy.setup.paths import cache
from deploy.setup.say import SetupError, run, step
from deploy.setup.turns import exclusively

NAME = "redis-server"
POLICY = Path("/usr/sbin/policy-rc.d")
"""What Debian's packages ask before they start a service; status 101 forbids it."""


def ensure() -> Path:
    """Where the program is, installed if it is nowhere. Raises SetupError with what to do."""
    if found := shutil.which(NAME):
        return Path(found)
    with exclusively(cache() / f"{NAME}.lock", NAME):
        if not shutil.which(NAME):
            _install()
    if found := shutil.which(NAME):
        return Path(found)
    raise SetupError(f"{NAME} was installed, but PATH does not lead to it.", "add its folder to PATH.")


def _install() -> None:
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise SetupError(
            f"There is no {NAME} on PATH, and it can be installed only by root on Debian or Ubuntu.",
            f"install it (apt-get install {NAME}; brew install redis), then run the same command again.",
        )
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    with step(NAME) as s, _no_service_started():
        s.now("installing Debian's package")
        for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", NAME]):
            done = subprocess.run(command, env=quiet, stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if done.returncode:
                raise SetupError(
                    f"`{' '.join(command)}` failed:\n{done.stderr.strip()}",
                    f"install {NAME} by hand, then run the same command again.",
                )
        s.done("installed; its service was not started")


@contextlib.contextmanager
def _no_service_started() -> Iterator[None]:
    """Nobody asked for a server on port 6379. A policy that the machine has already is left as it is."""
    if POLICY.exists() or POLICY.is_symlink():
        yield
        return
    POLICY.write_text("#!/bin/sh\nexit 101\n")
    try:
        POLICY.chmod(0o755)
        yield
    finally:
        POLICY.unlink(missing_ok=True)


def main() -> None:
    """`python3 -m deploy.setup.redis`."""
    ensure()


if __name__ == "__main__":
    run(main)
