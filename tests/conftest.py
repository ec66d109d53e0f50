"""The engine, for all tests that want one; and how thousands of tests are read and shared out without losing time."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Iterator

import pytest

from deploy.setup.engine import Engine
from tests.engines import Engines


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is read here stays to the end: it is not looked through for garbage, and the rest not all the time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(20_000)
        gc.enable()


@pytest.hookimpl(optionalhook=True)  # the environment of the engine has no such plugin
def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores, since many a test waits for a clock or another process."""
    return len(os.sched_getaffinity(0)) + 1


@pytest.fixture(scope="session")
def engines() -> Iterator[Engines]:
    """Whatever engine a test asks for."""
    kept = Engines()
    yield kept
    kept.close()


@pytest.fixture
def engine(engines: Engines) -> Engine:
    """The engine of `make up`; asked for by each test anew, since another may have run in between."""
    return engines.get()
