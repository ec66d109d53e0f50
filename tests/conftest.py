"""The engine, for all tests that want one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from deploy.setup.engine import Engine
from tests.engines import Engines


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
