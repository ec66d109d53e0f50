"""`make lock`: bring the lock files in line with pyproject.toml and the two requirements.in.

Versions stay as they are where they still fit; `make lock ARGS=--upgrade` takes the newest of all.

The resolver is uv, installed into a throw-away environment: it reads metadata without downloading the
packages, and lists the hashes of every platform's files, so one lock serves all machines.
"""

import hashlib
import json
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

from deploy.setup.paths import ENGINE_LOCK, GATEWAY_LOCK, ROOT, TORCH_CUDA_LOCK, TRAIN_LOCK
from deploy.setup.say import SetupError, run, step

UV = "uv==0.13.9"

TORCH = re.compile(r"(torch==|nvidia-|cuda-|triton==)")
"""The CUDA build of torch and what only it needs. On the CPU 4 GB that nothing loads: in a lock apart."""

HEADER = """\
# {what}
# Written by `make lock` from {source}; don't edit.
# Complete, so it is installed with `pip install --no-deps --require-hashes`.
"""


def main() -> None:
    """Write all lock files; none is touched if one cannot be resolved."""
    with tempfile.TemporaryDirectory() as scratch, step("lock") as s:
        s.now("installing uv")
        venv.create(scratch, with_pip=True, symlinks=True)
        _call([f"{scratch}/bin/pip", "install", "-q", "--disable-pip-version-check", UV])
        s.now("resolving the gateway")
        gateway = _resolve(scratch, [GATEWAY_LOCK], "pyproject.toml", "--all-extras")
        s.now("resolving the engine")
        asked = "deploy/vllm/requirements.in"
        pins = [ENGINE_LOCK, TORCH_CUDA_LOCK]
        rest, torch = _split(_resolve(scratch, pins, asked, "--override", "deploy/vllm/overrides.txt"))
        s.now("resolving the training")
        recipe = "classifiers/training/requirements.in"
        train, _same_torch = _split(_resolve(scratch, [TRAIN_LOCK, TORCH_CUDA_LOCK], recipe))
        _write(GATEWAY_LOCK, f"The gateway and its development.\n{asked_for()}", "pyproject.toml", gateway)
        _write(ENGINE_LOCK, "The engine without torch.", asked, rest)
        _write(TORCH_CUDA_LOCK, "PyTorch as the package index has it.", asked, torch)
        _write(TRAIN_LOCK, "Where the small models are trained, without torch.", recipe, train)
        counts = ((gateway, "the gateway"), (rest, "the engine"), (train, "training"), (torch, "torch"))
        s.done(", ".join(f"{len(packages)} packages for {whom}" for packages, whom in counts))


def asked_for() -> str:
    """The line of requirements.lock that tells which dependencies in pyproject.toml it was made for."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = json.dumps([project["dependencies"], project["optional-dependencies"]])
    return f"# For the dependencies with hash {hashlib.sha256(asked.encode()).hexdigest()[:12]}"


def _resolve(scratch: str, pins: list[Path], source: str, *more: str) -> list[str]:
    """The packages of a source, each as a block of lock file text. Keeps the versions in `pins` that still fit."""
    out = Path(scratch) / "resolved.lock"
    out.write_text("".join(lock.read_text() for lock in pins if lock.is_file()))
    _call([
        *(f"{scratch}/bin/uv", "pip", "compile", "--quiet", "--no-config", "--no-header", "--generate-hashes"),
        *("--universal", "--python-version", "3.11", "--output-file", str(out)),
        *(source, *more, *sys.argv[1:]),
    ])  # fmt: skip
    return [block for block in re.split(r"^(?=[\w.-]+==)", out.read_text(), flags=re.MULTILINE) if block.strip()]


def _split(blocks: list[str]) -> tuple[list[str], list[str]]:
    """What the engine needs beside torch, and torch. What overrides.txt rules out is in neither."""
    wanted = [b for b in blocks if "'never'" not in b.partition("\n")[0]]
    return [b for b in wanted if not TORCH.match(b)], [b for b in wanted if TORCH.match(b)]


def _write(lock: Path, what: str, source: str, blocks: list[str]) -> None:
    lock.write_text(HEADER.format(what=what, source=source) + "".join(blocks))


def _call(command: list[str]) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise SetupError(
            f"`{' '.join(command[:4])} …` failed:\n\n{done.stderr.strip()}",
            "mend the requirement named above, or the network; the lock files are as they were.",
        )


if __name__ == "__main__":
    run(main)
