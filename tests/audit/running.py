"""The audit log of a running gateway, as its files have it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from gateway.audit._files import chains
from tests.audit.logs import lines
from tests.rig import Running, until


def log_of(running: Running, kind: str = "exchange") -> list[dict[str, Any]]:
    """The lines of a kind that have been written so far."""
    folder = running.folder / "audit"
    return [line for line in lines(folder) if line["kind"] == kind] if chains(folder) else []


async def counted(running: Running, event: str, least: int) -> None:
    """So many lines are counted: a moment after they stand in the file."""
    async with asyncio.timeout(10):
        while (await running.metrics()).get(f'retrace_audit_total{{event="{event}"}}', 0) < least:  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def logged(folder: Path) -> bool:
    """Whether anything was logged anywhere."""
    return any(folder.glob("**/*.jsonl"))


async def written(running: Running, count: int = 1, kind: str = "exchange") -> list[dict[str, Any]]:
    """So many lines of a kind, once they are there."""
    await until(lambda: len(log_of(running, kind)) >= count, 10)
    return log_of(running, kind)
