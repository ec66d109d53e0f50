"""The rules that come with the gateway: they lie beside its package, in a clone as where it is installed."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

RULES = Path(__file__).parents[1] / "rules"
CONFIG = RULES / "gateway.yaml"
_WRITTEN = ("policies.yaml*", "tuned.yaml*", "__pycache__")  # by a gateway that was served from there


def copy(folder: Path) -> None:
    """All of them into a folder that is to be somebody's own. OSError if they can't be written, a FileExistsError if
    anything lies there."""
    if folder.is_dir() and any(folder.iterdir()):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(folder))
    shutil.copytree(RULES, folder, ignore=shutil.ignore_patterns(*_WRITTEN), dirs_exist_ok=True)
