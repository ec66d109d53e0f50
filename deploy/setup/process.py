"""Processes that outlive the command that started them: start, find again, stop by id.

Each has a name, a log `.run/<name>.log` and a state file `.run/<name>.json`. It leads a process group of
its own, so stopping it takes along what it started and nothing else. Linux only: a process is known by
its id together with the time it started, since ids are used again.
"""

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from deploy.setup.paths import ROOT, RUN
from deploy.setup.say import SetupError

TERM_SECONDS = 20.0


@dataclass(frozen=True)
class Service:
    """One process of this clone, as its state file tells of it."""

    name: str
    pid: int
    started: int
    port: int
    about: str

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> Path:
        """What it prints."""
        return log_of(self.name)

    @property
    def state(self) -> Path:
        """Its state file, as old as the process."""
        return _state_of(self.name)

    def older_than(self, *places: Path) -> bool:
        """Whether any Python file in these folders, or one of these files, has changed since it started."""
        began = self.state.stat().st_mtime
        files = (file for place in places for file in (place.rglob("*.py") if place.is_dir() else [place]))
        return any(file.stat().st_mtime > began for file in files)

    @property
    def alive(self) -> bool:
        """Whether it, and not a later process with its id, still runs."""
        with contextlib.suppress(ChildProcessError, OSError):
            os.waitpid(self.pid, os.WNOHANG)  # if it is our own child, don't leave a zombie behind
        stat = _stat(self.pid)
        return stat is not None and stat.state != "Z" and stat.started == self.started


@dataclass(frozen=True)
class _Stat:
    state: str
    group: int
    started: int


def log_of(name: str) -> Path:
    """The log of the process of that name."""
    return RUN / f"{name}.log"


def _state_of(name: str) -> Path:
    return RUN / f"{name}.json"


def start(
    name: str,
    command: Sequence[str],
    env: Mapping[str, str],
    port: int,
    about: str,
    firm: Mapping[str, str] | None = None,
) -> Service:
    """Start a process that lives on when this one ends. `about` is free text that `find` gives back.

    What the user sets in the environment wins over `env`, and `firm` over both.
    """
    if not Path("/proc/self/stat").exists():
        raise SetupError("Background processes need Linux.", "start the gateway by hand: .venv/bin/retrace serve")
    RUN.mkdir(exist_ok=True)
    with log_of(name).open("wb") as log:
        child = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**env, **os.environ, **(firm or {})},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    stat = _stat(child.pid)
    service = Service(name, child.pid, stat.started if stat else 0, port, about)
    beside = RUN / f"{name}.json.new"
    beside.write_text(json.dumps(asdict(service)))
    beside.replace(service.state)
    child.returncode = 0  # meant to outlive us, so no ResourceWarning when the handle goes
    return service


def find(name: str) -> Service | None:
    """The running process of that name that this clone started earlier, if there is one."""
    try:
        service = Service(**json.loads(_state_of(name).read_text()))
    except (OSError, ValueError, TypeError):
        return None
    return service if service.alive else None


def stop(service: Service) -> float:
    """End the process and all that it started: politely, then by force. Returns the seconds it took."""
    began = time.monotonic()
    if service.alive:
        _signal(service.pid, signal.SIGTERM)
        while _group(service) and time.monotonic() - began < TERM_SECONDS:
            time.sleep(0.1)
        if _group(service):
            _signal(service.pid, signal.SIGKILL)
            while _group(service) and time.monotonic() - began < TERM_SECONDS + 5:
                time.sleep(0.1)
    service.state.unlink(missing_ok=True)
    return time.monotonic() - began


def _signal(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)


def _group(service: Service) -> list[int]:
    """The living processes of the service's group, children that outlived their leader included."""
    service.alive  # noqa: B018 - reaps the leader if it is our child
    ids = [int(p.name) for p in Path("/proc").iterdir() if p.name.isdecimal()]
    stats = ((pid, _stat(pid)) for pid in ids)
    return [pid for pid, s in stats if s and s.group == service.pid and s.state != "Z"]


def _stat(pid: int) -> _Stat | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The command name stands in brackets and may hold anything, so count from the last bracket.
    fields = text.rpartition(")")[2].split()
    return _Stat(state=fields[0], group=int(fields[2]), started=int(fields[19]))
