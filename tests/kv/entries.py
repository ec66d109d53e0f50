"""Captures for tests, made of nothing but their tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gateway.kv.nouns import Entry, Owner, State

OURS = Owner("tenant", "", "fingerprint")
SIZE = 16


def entry(tokens: Sequence[int], **more: Any) -> Entry:
    """A kept capture of the whole blocks of `tokens`."""
    blocks = len(tokens) // SIZE
    values: dict[str, Any] = {
        "id": "donor",
        "owner": OURS,
        "state": State.KEPT,
        "block_size": SIZE,
        "record_bytes": 64,
        "tokens": tuple(tokens[: blocks * SIZE]),
        "holes": (0,) * blocks,
    }
    return Entry(**values | more)
