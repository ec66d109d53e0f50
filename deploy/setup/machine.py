"""What the set-up needs of the machine, mended where it can be."""

import importlib.util
import os
import shutil
import subprocess
import sys

from deploy.setup.paths import cache
from deploy.setup.say import SetupError, tell


def need_venv_module() -> None:
    """Debian ships Python without ensurepip, and so without a way to make an environment that has pip."""
    if importlib.util.find_spec("ensurepip"):
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise SetupError(
            f"{sys.executable} cannot create environments: its module ensurepip is missing.",
            "install it (Debian, Ubuntu: apt-get install python3-venv), then run the same command again.",
        )
    tell("  … installing python3-venv, which this Python lacks")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "python3-venv"]):
        done = subprocess.run(command, env=quiet, capture_output=True, text=True)
        if done.returncode:
            raise SetupError(
                f"`{' '.join(command)}` failed:\n{done.stderr.strip()}",
                "install python3-venv by hand, then run the same command again.",
            )
    importlib.invalidate_caches()


def need_space(gib: float, what: str) -> None:
    """Said before minutes of downloads, not after."""
    cache().mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(cache()).free / 2**30
    if free < gib:
        raise SetupError(
            f"The {what} needs {gib} GiB in {cache()}; {free:.1f} are free.",
            "free some space, or move the cache: XDG_CACHE_HOME=/some/where make up",
        )
