"""A redis-server for tests: the one on PATH, else Debian's package, installed without starting its service.

    program = ensure()                       # Path("/usr/bin/redis-server")

The gateway itself needs no Redis; whoever uses one brings it along. So nothing here ever runs a server.
"""

import shutil
from pathlib import Path

from deploy.setup import debian
from deploy.setup.say import SetupError, run, step

NAME = "redis-server"


def ensure() -> Path:
    """Where the program is, installed if it is nowhere. Raises SetupError with what to do."""
    return debian.ensured(NAME, _found, _brought)


def _found() -> Path | None:
    return Path(found) if (found := shutil.which(NAME)) else None


def _brought() -> Path | None:
    if not debian.here() or not debian.by_root():
        raise SetupError(
            f"There is no {NAME} on PATH, and it can be installed only by root on Debian or Ubuntu.",
            f"install it (apt-get install {NAME}; brew install redis), then run the same command again.",
        )
    with step(NAME) as s:
        debian.install(NAME, s.now)
        s.done("installed; its service was not started")
    return _found()


def main() -> None:
    """`python3 -m deploy.setup.redis`."""
    ensure()


if __name__ == "__main__":
    run(main)
