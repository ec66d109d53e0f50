"""tuned.yaml, beside gateway.yaml: what `retrace tune` found and what the controller holds in force, read and written.

Each writer keeps what is not his: the setting of the search has one, the hand another. The file is there whole, or as
it was before.
"""

from __future__ import annotations

from pathlib import Path

from gateway import files, yamlfile
from gateway.overlay import EMPTY, Overlay
from gateway.terms import Lookup, TunedFile

_HEAD = "# Written by `retrace tune` and by the controller (watch.yaml); `retrace tune --reset` undoes both.\n"


def read(path: Path) -> TunedFile:
    """What it says; nothing if there is no such file. ConfigFault if it can't be read."""
    return yamlfile.Document(path).into(TunedFile) if path.exists() else TunedFile()


def write_lookup(path: Path, lookup: Lookup, sample: str) -> None:
    """Put a setting of the search in force. ConfigFault or OSError leave the file as it was."""
    _write(path, read(path).model_copy(update={"lookup": lookup, "sample": sample}))


def write_hand(path: Path, hand: Overlay) -> None:
    """Put what the controller holds in force. ConfigFault or OSError leave the file as it was."""
    file = read(path).model_copy(update={"hand": hand})
    if file == TunedFile():
        path.unlink(missing_ok=True)
    else:
        _write(path, file)


def _write(path: Path, file: TunedFile) -> None:
    told = file.model_dump(exclude_defaults=True)
    if file.lookup is not None:
        told["lookup"] = file.lookup.model_dump()  # all of it: defaults may be others tomorrow
    if file.hand == EMPTY:
        told.pop("hand", None)
    files.replace(path, (_HEAD + yamlfile.dumped(told or {})).encode())
