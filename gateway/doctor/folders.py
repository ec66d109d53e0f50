"""A folder, and what it takes to write there: a few small files are written, synced and removed."""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from gateway.symptoms import Folder

TRIES = 5
BYTES = bytes(4096)
_IN_MEMORY = frozenset({"tmpfs", "ramfs"})


def folder(use: str, path: Path) -> Folder:
    """What is known of it. One that is not there yet is tried at the nearest that is."""
    there = next((one for one in (path, *path.absolute().parents) if one.exists()), Path("/"))
    try:
        usage = shutil.disk_usage(there)
        took = [_written(there) for _ in range(TRIES)]
    except OSError as fault:
        return Folder(use, str(path), why=fault.strerror or type(fault).__name__)
    kind = _kind(there)
    return Folder(use, str(path), "", usage.free, usage.total, statistics.median(took), kind in _IN_MEMORY)


def _written(path: Path) -> float:
    """Milliseconds until a small file is on the disk."""
    with tempfile.NamedTemporaryFile(dir=path, prefix=".retrace-doctor-") as file:
        file.write(BYTES)
        file.flush()
        began = time.perf_counter()
        os.fsync(file.fileno())
        return 1000 * (time.perf_counter() - began)


def _kind(path: Path) -> str:
    """The kind of its file system, as Linux tells it; empty elsewhere."""
    try:
        mounts = Path("/proc/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    real = path.resolve()
    fitting = [fields for line in mounts if len(fields := line.split()) > 2 and real.is_relative_to(fields[1])]
    return max(fitting, key=lambda fields: len(fields[1]))[2] if fitting else ""
