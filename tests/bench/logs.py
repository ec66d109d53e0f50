"""How fast `retrace assess` reads logs, and in how much memory: one large log of each format, read by a process.

    python -m tests.bench.logs [--lines 100000]

The last line is JSON: by format lines a second of processor time (all of the command's, the replay of the newest
requests and its start among them), which others on the machine change little; and resident memory at most, in MiB.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from rich.console import Console

from tests.assess.samples import SHAPES, day, lines
from tests.commands import RETRACE, ROOT

console = Console(highlight=False)


def assessed(path: Path) -> tuple[float, float, dict[str, Any]]:
    """Seconds of processor time, MiB, and what was told."""
    process = subprocess.Popen([*RETRACE, "assess", str(path), "--json"], cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None
    told: dict[str, Any] = json.loads(process.stdout.read())
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    process.stdout.close()
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, told


def measured(count: int) -> dict[str, Any]:
    """Each format once."""
    asked, found = day(2000), {}
    with tempfile.TemporaryDirectory() as folder:
        for shape in sorted(SHAPES):
            path, rows = Path(folder) / shape, list(lines(asked, shape))
            with path.open("wb") as file:
                file.writelines(row + b"\n" for row in itertools.islice(itertools.cycle(rows), count))
            megabytes = path.stat().st_size >> 20
            seconds, memory, told = assessed(path)
            assert told["lines"] == count, told
            assert told["bad_lines"] == 0, told
            console.print(
                f"{shape}: {count} lines, {megabytes} MiB, {seconds:.1f} s of processor time, {memory:.0f} MiB resident"
            )
            found[shape] = {"lines_per_second": round(count / seconds), "mib": round(memory), "log_mib": megabytes}
            path.unlink()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=100_000)
    told = parser.parse_args()
    console.print(json.dumps(measured(told.lines)), soft_wrap=True)


if __name__ == "__main__":
    main()
