"""Names of captures as those of files, and folders for them that nobody else may enter."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

MODE = 0o600
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def checked(id: str) -> str:
    """`id`, if it may be a file's name; else ValueError."""
    if not _ID.fullmatch(id):
        raise ValueError(f"a capture's id must be 1 to 64 characters out of A-Z a-z 0-9 _ -, not {id[:80]!r}")
    return id


def own(folder: Path) -> Path:
    """`folder`, made if it is missing. ValueError says what to do if others may enter, or it is none of ours."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise ValueError(
            f"{folder} can't be a folder for captures ({error.strerror}); name another one "
            "(RETRACE_POOL in memory, RETRACE_POOL_DISK on disk)"
        ) from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise ValueError(f"{folder} is not a folder of this user's own; remove it, or name another one")
    if found.st_mode & 0o077:
        raise ValueError(f"others may enter {folder}; `chmod 700` it, or name a folder in it that is yet to be made")
    return folder


def ids(folder: Path, suffix: str) -> list[str]:
    """The captures whose files of that suffix lie in a folder; none if it is gone."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    stems = (name.removesuffix(suffix) for name in names if name.endswith(suffix))
    return [stem for stem in stems if _ID.fullmatch(stem)]
