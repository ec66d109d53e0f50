"""The state file of policies: read whole, changed under a lock, replaced whole. Many processes and people share it.

A file that can't be read is never written over: what somebody confirmed may still stand in it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from gateway import files, yamlfile
from gateway.errors import ConfigFault
from gateway.watch.versions import PolicyFile, Standing, Wanted, merged, nothing_known, settle

T = TypeVar("T")

HEAD = (
    "# Which rules each policy of reasons.yaml (`inject`) was confirmed for, and what is being tried. The gateway and\n"
    "# `retrace policy` write it; `retrace policy list` shows it.\n"
)


def read(path: Path) -> PolicyFile | None:
    """What it holds; none if there is no such file. ConfigFault if it can't be read."""
    if not path.exists():
        return None
    document = yamlfile.Document(path)
    if not document.lines:  # as an interrupted save leaves it
        fix = "restore it; or remove it while no gateway runs, then all policies are trusted as they are"
        raise ConfigFault([document.complain((), "the file is empty", fix)])
    return document.into(PolicyFile)


def standing(path: Path, wanted: Wanted, known: PolicyFile | None, now: datetime) -> Standing:
    """What is in force, by what the file says and this process knows. Who knows nothing yet and can't read the file has
    all reuse off; ConfigFault for who does: what he knows stays in force."""
    try:
        found = read(path)
    except ConfigFault as fault:
        if known is not None:
            raise
        return nothing_known(wanted, str(fault))
    return settle(wanted, merged(found or PolicyFile(), known or PolicyFile()), now)


def change(path: Path, step: Callable[[PolicyFile], tuple[PolicyFile, T]]) -> T:
    """Read it, change it, write it, while nobody else does; what `step` told beside. ConfigFault if it can't be read,
    OSError if it can't be written: then it is as it was."""
    with files.locked(path):
        known = read(path) or PolicyFile()
        new, told = step(known)
        if new != known:
            text = HEAD + yamlfile.dumped(new.model_dump(mode="json", exclude_none=True))
            files.replace(path, text.encode())
        return told
