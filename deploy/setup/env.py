"""Python environments out of lock files, made once per user and shared by all clones.

An environment lies in the user's cache, under a name that holds the hash of its lock file: a changed
lock makes a new one, an unchanged one is found at once. It counts only once its marker is written, which
happens last: what an interrupted set-up left behind is thrown away by the next. Clones add nothing to
it, not even themselves.
"""

import hashlib
import os
import platform
import shutil
import sys
import venv
from pathlib import Path
from typing import Literal

from deploy.setup import machine, pip
from deploy.setup.lock import asked_for
from deploy.setup.paths import (
    ENGINE_LOCK,
    GATEWAY_LOCK,
    ROOT,
    TORCH_CPU_LOCK,
    TORCH_CUDA_LOCK,
    TRAIN_LOCK,
    VENV,
    VENV_ENGINE,
    VENV_TRAIN,
    cache,
)
from deploy.setup.say import SetupError, run, step
from deploy.setup.turns import exclusively

Name = Literal["gateway", "engine", "train"]

LOCKS: dict[Name, tuple[Path, ...]] = {
    "gateway": (GATEWAY_LOCK,),
    "engine": (ENGINE_LOCK, TORCH_CPU_LOCK, TORCH_CUDA_LOCK),
    "train": (TRAIN_LOCK, TORCH_CPU_LOCK, TORCH_CUDA_LOCK),
}
LINKS: dict[Name, Path] = {"gateway": VENV, "engine": VENV_ENGINE, "train": VENV_TRAIN}
GIB_NEEDED: dict[Name, float] = {"gateway": 0.5, "engine": 4.0, "train": 2.0}
MARKER = "complete"


def folder(name: Name) -> Path:
    """Where the environment of the present lock file lies or will lie."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    lines = [line for lock in LOCKS[name] for line in lock.read_text().splitlines()]
    # Without comments: a reworded one is no reason to install gigabytes again.
    recipe = [version, platform.machine(), *(line for line in lines if not line.lstrip().startswith("#"))]
    return cache() / f"{name}-{hashlib.sha256(chr(10).join(recipe).encode()).hexdigest()[:12]}"


def ensure(name: Name) -> Path:
    """The environment's folder, made if it is not there. Raises SetupError with what to do."""
    if name == "gateway":
        _need_lock_in_line()
    with step(f"{name} environment") as s:
        where = folder(name)
        if _whole(where):
            s.done(f"already there, {where}")
        else:
            s.now("waiting for its turn")
            with exclusively(cache() / f"{where.name}.lock", f"{name} environment"):
                if not _whole(where):
                    _make(name, where, s.now)
            s.done(f"installed, {where}")
    _link(LINKS[name], where)
    return where


def _whole(where: Path) -> bool:
    """Complete, and the Python it was made with still there."""
    return (where / MARKER).is_file() and (where / "bin" / "python").exists()


def _make(name: Name, where: Path, now: pip.Tell) -> None:
    machine.need_venv_module()
    machine.need_space(GIB_NEEDED[name], f"{name} environment")
    if where.exists():
        now("clearing away an interrupted set-up")
        shutil.rmtree(where)
    now("creating it")
    # In its final place, not beside it: the scripts in bin/ hold their interpreter's path.
    venv.create(where, with_pip=True, symlinks=True)
    pip.install(where, LOCKS[name][0], now)
    if TORCH_CPU_LOCK in LOCKS[name]:
        _install_torch(where, now)
    else:
        _write_launcher(where)
    (where / MARKER).touch()


def _install_torch(where: Path, now: pip.Tell) -> None:
    """The CPU build where pip can find it, else the one that every index has."""
    try:
        pip.install(where, TORCH_CPU_LOCK, lambda note: now(f"torch for the CPU, {note}"))
    except SetupError:
        pip.install(where, TORCH_CUDA_LOCK, lambda note: now(f"no torch for the CPU found; CUDA build, {note}"))


def _need_lock_in_line() -> None:
    """A dependency added to pyproject.toml alone would be missing on every machine."""
    if asked_for() not in GATEWAY_LOCK.read_text():
        raise SetupError("requirements.lock does not fit the dependencies in pyproject.toml.", "renew it: make lock")


LAUNCHER = '''#!{python}
"""The `retrace` command of the clone whose .venv it was called through; else of the folder one stands in."""
import pathlib
import sys

called = pathlib.Path(sys.argv[0]).absolute().parent.parent.parent
sys.path.insert(0, str(called if (called / "gateway").is_dir() else pathlib.Path.cwd()))

from gateway.cli import main

sys.argv[0] = "retrace"
main()
'''


def _write_launcher(where: Path) -> None:
    """`.venv/bin/retrace`, without installing the clone into what all clones share."""
    launcher = where / "bin" / "retrace"
    launcher.write_text(LAUNCHER.format(python=where / "bin" / "python"))
    launcher.chmod(0o755)


def _link(link: Path, where: Path) -> None:
    """Point .venv, or the engine's like of it, at the environment."""
    if link.is_symlink() and Path(os.readlink(link)) == where:
        return
    if link.exists() and not link.is_symlink():
        raise SetupError(
            f"{link} is a folder, not the link this set-up makes.",
            f"move it away (mv {link.name} {link.name}.old), then run the same command again.",
        )
    beside = ROOT / f"{link.name}.{os.getpid()}"
    beside.symlink_to(where)
    beside.replace(link)


def main() -> None:
    """`python3 -m deploy.setup.env [gateway] [engine] [train]`."""
    for name in LOCKS:
        if name in sys.argv[1:]:
            ensure(name)


if __name__ == "__main__":
    run(main)
