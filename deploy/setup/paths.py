"""Where things lie, and which of them the user moves by environment variable. Every other file here asks
this one.
"""

import hashlib
import os
from pathlib import Path

from deploy.setup.say import SetupError

ROOT = Path(__file__).resolve().parents[2]
"""The clone this file belongs to."""

RUN = ROOT / ".run"
"""What this clone's processes leave behind: logs, and one state file for each process that runs."""

VENV = ROOT / ".venv"
"""Link to the gateway's environment."""

VENV_ENGINE = ROOT / ".venv-engine"
"""Link to the engine's."""

VENV_TRAIN = ROOT / ".venv-train"
"""Link to the one where the small models are trained; made only when asked for."""

GATEWAY_LOCK = ROOT / "requirements.lock"
ENGINE_LOCK = ROOT / "deploy" / "vllm" / "requirements.lock"
TRAIN_LOCK = ROOT / "classifiers" / "training" / "requirements.lock"
TORCH_CPU_LOCK = ROOT / "deploy" / "vllm" / "torch-cpu.lock"
TORCH_CUDA_LOCK = ROOT / "deploy" / "vllm" / "torch-cuda.lock"


def cache() -> Path:
    """The folder that all clones of this user share; it holds only what a lock file can bring back."""
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(home).expanduser() / "retrace-gateway"


def pool() -> Path:
    """Where the engine of this clone keeps captures: shared memory, so that they outlive the engine."""
    return Path("/dev/shm") / f"retrace-{hashlib.sha256(str(ROOT).encode()).hexdigest()[:12]}"


def number(name: str, default: int) -> int:
    """A whole number from the environment, so a typing error is told as one."""
    text = os.environ.get(name, "").strip()
    if not text:
        return default
    if not text.isdecimal():
        raise SetupError(f"{name}={text!r} is not a whole number.", f"correct it, or unset it for {default}.")
    return int(text)


def engine_port() -> int:
    """Where `make up` puts the engine."""
    return number("RETRACE_ENGINE_PORT", 8000)


def gateway_port() -> int:
    """Where `make up` puts the gateway."""
    return number("RETRACE_PORT", 8080)
