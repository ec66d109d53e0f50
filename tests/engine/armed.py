"""Which calls of the plugin are to fail: known to the test that says so and to the engine that reads it."""

from __future__ import annotations

import os
from pathlib import Path

FILE = "RETRACE_FAULTS"
DESK = ("admit", "prefix", "allocated", "step", "finish", "splices", "stop_before", "jump", "cap")
CALLS = (*(f"Desk.{name}" for name in DESK), "Injector.load", "Recorder.record")


def armed() -> set[str]:
    path = Path(os.environ[FILE])
    return set(path.read_text().split()) if path.exists() else set()
