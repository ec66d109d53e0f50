"""Memory as pools have it, a disk that is full, and the plugin's routes before a pool."""

from __future__ import annotations

import resource
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest

from gateway.kv.pool import Pool
from gateway.kv.settings import Settings
from tests.kv.served import caller


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


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine's, with a small pool in it."""
    for name in ("RETRACE_POOL_DISK", "RETRACE_POOL_TTL", "RETRACE_POOL_HOLD", "RETRACE_ENGINE_SECRET"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("RETRACE_POOL", str(tmp_path / "pool"))
    monkeypatch.setenv("RETRACE_POOL_GIB", str(1 / (1 << 20)))


@pytest.fixture
def pool(environment: None) -> Iterator[Pool]:
    """As the engine has it."""
    pool = Pool(Settings.read())
    yield pool
    pool.close()


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    """A client on this machine."""
    async with caller() as client:
        yield client
