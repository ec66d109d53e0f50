"""Kill a capturing engine with SIGKILL, again and again: is any capture torn, does the account stay exact?

    python -m tests.bench.killed [--times 50]

A real vLLM with the plugin (a small random model) captures prompt after prompt; at a random moment it is killed. Then
every published block is read back and its checksum verified, and the pool's account is compared with the files. The
pool lives on through all of it. The last line is JSON; the exit status is 1 if anything was wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console

from deploy.setup import env
from deploy.setup.paths import ROOT
from deploy.vllm import model
from gateway.kv.nouns import State
from gateway.kv.pool import Pool
from gateway.kv.settings import Settings

console = Console(highlight=False)


def verified(pool: Pool, name: str) -> tuple[int, int]:
    """How many blocks of a capture are good, and how many are not."""
    entry = pool.keep(name, "R203")
    good = bad = 0
    record = memoryview(bytearray(entry.record_bytes or 1))
    with pool.lease(name) as lease:
        for number in range(entry.blocks):
            try:
                lease.read(number, record)
                good += 1
            except (OSError, ValueError):
                bad += 1
    return good, bad


def on_file(folder: Path, captures: dict[str, int]) -> bool:
    """Whether each capture's file holds at least what the index says, and no file is left without one."""
    files = {path.stem: path.stat().st_size for path in folder.glob("*.kv")}
    return set(files) == {name for name, size in captures.items() if size} and all(
        files[name] >= size for name, size in captures.items() if size
    )


def round_of(pool: Pool, folder: Path) -> dict[str, int]:
    """What an engine that has just been killed left behind, looked at as the next one would."""
    pool.recover()
    entries = [entry for entry in pool.entries(10_000) if entry.state is not State.EXPIRED]
    sizes = {entry.id: entry.bytes for entry in entries}
    exact = pool.usage().bytes == sum(sizes.values()) and on_file(folder, sizes)
    blocks = [verified(pool, entry.id) for entry in entries if entry.blocks]
    for entry in entries:
        pool.drop(entry.id)
    return {
        "captures": len(entries),
        "blocks": sum(good for good, _ in blocks),
        "bad": sum(bad for _, bad in blocks),
        "inexact": int(not exact),
    }


def killed(times: int) -> dict[str, int]:
    """Kill so often; the sums over all rounds."""
    python = env.ensure("engine") / "bin" / "python"
    total = {"kills": 0, "captures": 0, "blocks": 0, "bad": 0, "inexact": 0}
    with tempfile.TemporaryDirectory(dir="/dev/shm") as home:
        folder = Path(home) / "pool"
        pool = Pool(Settings(folder=folder))
        more = {"RETRACE_POOL": str(folder), "VLLM_ENABLE_V1_MULTIPROCESSING": "0", "HF_HUB_OFFLINE": "1"}
        more |= {"VLLM_CPU_KVCACHE_SPACE": "1", "OMP_NUM_THREADS": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}
        more |= {"VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1", "VLLM_LOGGING_LEVEL": "ERROR"}
        command = [str(python), "-m", "tests.engine.victim", model.path(model.source("tiny"))]
        pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(command, cwd=ROOT, env={**os.environ, **more}, text=True, **pipes) as engine:
            assert engine.stdin is not None
            assert engine.stdout is not None
            for number in range(times):
                print("another", file=engine.stdin, flush=True)
                child = int(engine.stdout.readline())
                time.sleep(random.Random(number).uniform(0.05, 1.5))
                os.kill(child, signal.SIGKILL)
                engine.stdout.readline()
                found = round_of(pool, folder)
                total = {name: total[name] + (1 if name == "kills" else found[name]) for name in total}
                console.print(f"  kill {number + 1} of {times}: {found}")
            engine.stdin.close()
        pool.close()
    return total


def main() -> None:
    made = argparse.ArgumentParser(
        prog="python -m tests.bench.killed", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--times", type=int, default=50, help="how often (default: 50)")
    total = killed(made.parse_args().times)
    print(json.dumps(total))
    raise SystemExit(1 if total["bad"] or total["inexact"] or not total["blocks"] else 0)


if __name__ == "__main__":
    main()
