"""The command line as a user has it: real processes."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

import psutil

ROOT = Path(__file__).parent.parent
RETRACE = (sys.executable, "-m", "gateway.cli")
PLAIN = {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "200", "PYTHONWARNINGS": "default"}


def _environment(more: dict[str, str]) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **PLAIN, **more}


def retrace(*words: str, told: str = "", cwd: Path = ROOT, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [*RETRACE, *words],
        input=told,
        capture_output=True,
        text=True,
        cwd=cwd,
        env=_environment(env),
        timeout=30,
        check=False,
    )


@asynccontextmanager
async def served(
    *words: str, log: IO[bytes] | None = None, by_force: bool = False, **env: str
) -> AsyncIterator[tuple[str, asyncio.subprocess.Process]]:
    """`retrace serve` as a process that is ready: its address, and itself. It is ended, and must end well.

    What it says on stderr goes into `log`. `by_force`: the test kills it.
    """
    process = await asyncio.create_subprocess_exec(
        *RETRACE, "serve", *words, cwd=ROOT, env=_environment(env), stderr=asyncio.subprocess.PIPE
    )
    assert process.stderr is not None
    try:
        async with asyncio.timeout(20):
            while line := (await process.stderr.readline()).decode():
                if at := re.search(r"serves (http://\S+?)/v1", line):
                    break
            else:
                raise AssertionError(f"it ended with {await process.wait()} and said nothing")
        rest = asyncio.create_task(process.stderr.read())
        yield at[1], process
        if process.returncode is None:
            process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(15):
            code, told = await process.wait(), await rest
        assert code == (-signal.SIGKILL if by_force else 0), told.decode()
        if log:
            log.write(told)
    finally:
        if process.returncode is None:
            for child in psutil.Process(process.pid).children(recursive=True):
                child.kill()  # or `wait` would wait for their ends of the pipe
            process.kill()
            await process.wait()
