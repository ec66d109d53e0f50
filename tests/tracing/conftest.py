"""Traces that leave at once: many a test waits for its own."""

from __future__ import annotations

import pytest

from gateway.tracing import _sender


@pytest.fixture(autouse=True)
def _leaves_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sender, "LINGER", 0.05)
