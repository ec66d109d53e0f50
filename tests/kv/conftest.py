"""Memory as pools have it, and a disk that is full."""

from __future__ import annotations

import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def small_files() -> Iterator[int]:
    """No file of this process can grow beyond so many bytes: a full disk, as far as whoever writes can tell."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    size = 1 << 20
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield size
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder in shared memory where there is such a thing: thousands of files are made there in no time."""
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None, prefix="retrace-test-") as folder:
        yield Path(folder)
