"""The shipped configuration, read once."""

from __future__ import annotations

import pytest

from gateway.config import House, Source, build
from tests.house.shipped import PACKS, RULES, switched_on


@pytest.fixture(scope="session")
def core() -> House:
    """As it is shipped."""
    return build(Source(RULES / "gateway.yaml"))


@pytest.fixture(scope="session")
def full(tmp_path_factory: pytest.TempPathFactory) -> House:
    """With all packs switched on."""
    return switched_on(tmp_path_factory.mktemp("full"), *PACKS)
