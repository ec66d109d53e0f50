"""pip, with hashes checked, its progress in one line and its failures in plain words.

Where packages come from is the user's pip configuration's business: nothing here names a place.
"""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from deploy.setup.say import SetupError, tail

Tell = Callable[[str], None]


def install(environment: Path, lock: Path, now: Tell) -> None:
    """Install exactly what `lock` lists: it lists everything needed, so pip must not look further."""
    _run(environment, ["install", "--only-binary=:all:"], lock, now)


def download(environment: Path, lock: Path, target: Path, now: Tell) -> None:
    """Fetch the files of `lock` into the folder `target`."""
    _run(environment, ["download", "-d", str(target)], lock, now)


def _run(environment: Path, action: list[str], lock: Path, now: Tell) -> None:
    log = environment.with_name(f"{environment.name}.pip.log")
    command = [str(environment / "bin" / "python"), "-m", "pip", *action]
    command += ["--no-deps", "--require-hashes", "-r", str(lock)]
    command += ["--disable-pip-version-check", "--no-input", "--progress-bar", "off"]
    # A PYTHONPATH or a --user default of the caller's must not leak into the environment.
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PIP_USER", "PIP_TARGET")}
    env["PYTHONUNBUFFERED"] = "1"
    total = len(re.findall(r"^[\w.-]+==", lock.read_text(), re.MULTILINE))
    seen = 0
    with (
        log.open("w") as out,
        subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as pip,
    ):
        assert pip.stdout is not None
        for line in pip.stdout:
            out.write(line)
            out.flush()
            if line.startswith(("Collecting ", "Processing ", "Ignoring ")):
                seen += 1
                now(f"package {seen} of {total}")
            elif line.startswith("Installing collected packages"):
                now(f"unpacking {total} packages")
    if pip.returncode:
        raise SetupError(f"pip failed ({log}):\n\n{tail(log, 12)}", _advice(log.read_text()))
    log.unlink()


_ADVICE = (
    ("DO NOT MATCH THE HASHES", "a file differs from the locked one: see which above. If the package index "
     "you use rebuilds packages, use one that does not; otherwise do not install it."),
    ("No space left", "free some disk space, or move the cache: XDG_CACHE_HOME=/some/where make up"),
    ("No matching distribution", "no file of that version fits this Python and machine. Python 3.11 on Linux "
     "x86_64 is known to work; for an engine elsewhere set RETRACE_ENGINE_URL."),
    ("NewConnectionError", "pip could not reach its package index. Check the network and pip's configuration "
     "(pip config list), then run the same command again."),
)  # fmt: skip


def _advice(output: str) -> str:
    return next((words for sign, words in _ADVICE if sign in output), "mend what pip says, and run the command again.")
