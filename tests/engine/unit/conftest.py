"""Here the packages of the engine are imported, and what they warn about is not ours to mend."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Warnings stay errors in our own code alone."""
    config.addinivalue_line("filterwarnings", r"default:::(?!gateway\.|tests\.)")
