"""What the operator may set for the plugin, by environment variable: the engine's three processes all read it here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Settings:
    """Where captures lie, how many, and for how long."""

    folder: Path = Path("/dev/shm/retrace")
    size: int = 4 << 30  # bytes of shared memory
    ttl: float = 3600.0  # seconds a kept capture lives if its verdict says nothing else
    hold: float = 120.0  # seconds a capture waits for its verdict once its request is over
    disk: Path | None = None  # the second tier's folder; none: what is displaced is gone
    disk_size: int = 32 << 30  # bytes
    secret: str = ""  # what the gateway must present; empty: only this machine may speak to the plugin

    @classmethod
    def read(cls, env: Mapping[str, str] = os.environ) -> Settings:
        """Out of RETRACE_POOL, RETRACE_POOL_GIB, RETRACE_POOL_TTL, RETRACE_POOL_HOLD, RETRACE_POOL_DISK,
        RETRACE_POOL_DISK_GIB and RETRACE_ENGINE_SECRET. ValueError names the variable that is wrong."""
        disk = env.get("RETRACE_POOL_DISK", "")
        return cls(
            folder=Path(env.get("RETRACE_POOL") or "/dev/shm/retrace"),
            size=int(_positive(env, "RETRACE_POOL_GIB", 4.0) * (1 << 30)),
            ttl=_positive(env, "RETRACE_POOL_TTL", 3600.0),
            hold=_positive(env, "RETRACE_POOL_HOLD", 120.0),
            disk=Path(disk) if disk else None,
            disk_size=int(_positive(env, "RETRACE_POOL_DISK_GIB", 32.0) * (1 << 30)),
            secret=env.get("RETRACE_ENGINE_SECRET", ""),
        )


def _positive(env: Mapping[str, str], name: str, default: float) -> float:
    text = env.get(name, "").strip()
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise ValueError(f"{name}={text!r} must be a number above 0; correct it, or unset it for {default:g}")
    return value
