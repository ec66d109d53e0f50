"""The vLLM engine of this clone: start it, find it again, stop it.

    engine = ensure()                        # starts one if none runs, waits until it answers
    engine.url, engine.model                 # "http://127.0.0.1:8000", "qwen"
    if engine.started_by_us:
        engine.stop()

    ensure(wanted=Launch(model="gemma"), replace=True)     # another one, in its place

One engine per clone, shared by `make up`, the tests and the benches. With RETRACE_ENGINE_URL set, that
endpoint is used instead and nothing is started.
"""

import contextlib
import json
import os
import re
import shutil
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from deploy.setup import env, ports, process
from deploy.setup.paths import ROOT, RUN, engine_port, number, pool
from deploy.setup.say import SetupError, run, step, tell
from deploy.setup.turns import exclusively
from deploy.setup.wait import Gone, TimedOut, until_ok
from deploy.vllm import launch, model
from deploy.vllm.launch import Launch

NAME = "engine"
CODE = ROOT / "deploy" / "vllm" / "launch.py"
PLUGIN = ROOT / "gateway" / "kv"


@dataclass(frozen=True)
class Engine:
    """An engine that answers."""

    url: str
    """Base address, without /v1 and without a slash at the end."""
    model: str
    """The name that requests put into `model`."""
    pid: int | None
    """None for an engine that is not ours (RETRACE_ENGINE_URL)."""
    started_by_us: bool
    """True if this very call of `ensure` started it: then it is the caller's to stop."""

    def stop(self) -> None:
        """Stop it, whoever started it; without effect on an engine that is not ours or has gone."""
        service = process.find(NAME)
        if service is not None and service.pid == self.pid:
            process.stop(service)


def ensure(port: int | None = None, wanted: Launch | None = None, *, replace: bool = False) -> Engine:
    """The engine of this clone: started on `port` (None: any free one) if none runs, then waited for.

    An engine that runs is used, on whatever port; started anew if its code has changed since. One that is not what
    is `wanted` is stopped for it if `replace`, else left alone. Raises SetupError with what to do.
    """
    wanted = wanted or Launch()
    if url := os.environ.get("RETRACE_ENGINE_URL"):
        return _foreign(url.rstrip("/").removesuffix("/v1"), wanted)
    with exclusively(RUN / f"{NAME}.lock", "engine"):
        source = model.source(wanted.model)
        way = _way(process.find(NAME), wanted.about(source), replace, [CODE, *([PLUGIN] if wanted.plugin else [])])
        service = way.service or _start(wanted, source, way.port or port)
        _await(service, way.how, wanted.served)
        return Engine(service.url, wanted.served, service.pid, way.ours)


class _Way(NamedTuple):
    """How we come to the engine that is wanted."""

    how: str
    """In words."""
    service: process.Service | None = None
    """It runs already."""
    port: int | None = None
    """Where to start it, since whoever knows it looks for it there."""
    ours: bool = False


def _way(service: process.Service | None, about: str, replace: bool, code: Sequence[Path]) -> _Way:
    """Stops the engine that runs if it is in the way."""
    if service is None:
        return _Way("started", ours=True)
    if service.about == about:
        if not service.older_than(*code):
            return _Way("already runs", service)
        process.stop(service)
        return _Way("started anew, since its code has changed", port=service.port)
    if not replace:
        raise SetupError(
            f"The engine that runs (process {service.pid}) serves {service.about}, not {about}.",
            "stop it first: make down",
        )
    process.stop(service)
    return _Way(f"started in the place of {service.about}", ours=True)


def _start(wanted: Launch, source: str, port: int | None) -> process.Service:
    # The port first: no need to install for minutes only to hear that it is taken.
    if port is not None:
        ports.require(port, "the engine", "RETRACE_ENGINE_PORT")
    python = env.ensure("engine") / "bin" / "python"
    served = model.path(source)
    port = port or ports.free()
    command = launch.command(str(python), served, port, wanted)
    return process.start(NAME, command, launch.environment(served, wanted), port, wanted.about(source), wanted.env)


def _await(service: process.Service, how: str, served: str) -> None:
    """Wait until the engine answers; a failed start is cleaned up and told with the end of its log."""
    limit = number("RETRACE_ENGINE_TIMEOUT", 600)
    with step("engine") as s:
        try:
            until_ok(f"{service.url}/health", service, limit, lambda: s.now(_phase(service)))
        except (Gone, TimedOut) as e:
            process.stop(service)
            raise SetupError(f"The engine {e.story}", _advice(service, e)) from None
        s.done(f"{how}: {service.url}, model {served}, process {service.pid}")


_PHASES = (
    ("Application startup complete", "ready to answer"),
    ("Starting vLLM server", "opening its port"),
    ("init engine", "warming up"),
    ("Loading weights took", "making room for the KV cache"),
    ("Starting to load model", "loading the weights"),
    ("Initializing a V1 LLM engine", "starting the worker"),
    ("non-default args", "reading the model's configuration"),
)


def _phase(service: process.Service) -> str:
    """What the engine is at, in words, from its log."""
    with contextlib.suppress(OSError):
        text = service.log.read_text(errors="replace")
        return next((words for sign, words in _PHASES if sign in text), "loading Python packages")
    return "starting"


_ADVICE = (
    (r"MemoryError|Cannot allocate memory|out of memory|SIGKILL|exit code -9",
     "free some memory (it needs about 9 GiB) and run the same command again."),
    (r"No space left", "free some disk space and run the same command again."),
    (r"Illegal instruction|SIGILL",
     "this CPU lacks instructions that vLLM wants (AVX2). Set RETRACE_ENGINE_URL to a vLLM elsewhere."),
)  # fmt: skip


def _advice(service: process.Service, failure: Gone | TimedOut) -> str:
    text = service.log.read_text(errors="replace") if service.log.is_file() else ""
    for sign, words in _ADVICE:
        if re.search(sign, text):
            return words
    if isinstance(failure, TimedOut):
        return "on a slow machine give it more time: RETRACE_ENGINE_TIMEOUT=1800 make up"
    return "mend what the log names, then run the same command again."


def forget() -> bool:
    """Free the memory in which the engine of this clone kept captures; False if there was none. For when it has ended.

    A pool that RETRACE_POOL names is the user's, and left alone.
    """
    kept = pool().is_dir()
    if kept:
        shutil.rmtree(pool())
    return kept


def _foreign(url: str, wanted: Launch) -> Engine:
    """Someone else's endpoint; the first model it lists is the one we ask."""
    about = wanted.about(model.source(wanted.model))
    if about != Launch().about(model.source()):
        raise SetupError(
            f"An engine is wanted that serves {about}; RETRACE_ENGINE_URL={url} is what it is.",
            "unset RETRACE_ENGINE_URL, so that one can be started.",
        )
    try:
        with urllib.request.urlopen(f"{url}/v1/models", timeout=10) as answer:
            name: str = json.load(answer)["data"][0]["id"]
    except (urllib.error.URLError, OSError, ValueError, LookupError) as e:
        raise SetupError(
            f"RETRACE_ENGINE_URL={url} does not answer GET /v1/models with a model: {e}",
            "start that endpoint, correct the address, or unset RETRACE_ENGINE_URL for an engine of our own.",
        ) from None
    return Engine(url, name, None, started_by_us=False)


def main() -> None:
    """`python3 -m deploy.setup.engine`: the engine alone, left running."""
    engine = ensure(engine_port())
    tell(f"  {engine.url}/v1  (stop it with: make down)")


if __name__ == "__main__":
    run(main)
