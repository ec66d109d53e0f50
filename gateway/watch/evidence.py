"""What trials have shown so far, by trial; kept in a file beside the state file, so that a restart goes on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path

import orjson
from pydantic import TypeAdapter, ValidationError

from gateway import files
from gateway.watch.trials import Evidence
from gateway.watch.versions import Standing

log = logging.getLogger(__name__)

SAVED = 60.0  # seconds between two times that it is put away

_READ = TypeAdapter(dict[str, Evidence])


def read(path: Path) -> dict[str, Evidence]:
    """What a file holds; nothing if there is none. A broken one holds nothing either, and is told of."""
    if not path.exists():
        return {}
    try:
        return _READ.validate_json(path.read_bytes())
    except (OSError, ValidationError) as fault:
        log.error("what trials had shown can't be read, they begin anew: %s: %s", path, str(fault).partition("\n")[0])
        return {}


def dumped(seen: Mapping[str, Evidence]) -> bytes:
    """As it stands in the file: numbers, no words and no names of clients."""
    return orjson.dumps(seen)


class Evidences:
    """The trials that are going on."""

    def __init__(self) -> None:
        self._seen: dict[str, Evidence] = {}
        self._kept = b"{}"
        self._saved = 0.0

    def of(self, key: str) -> Evidence | None:
        """One trial's, as it grows."""
        return self._seen.get(key)

    def follow(self, standing: Standing) -> None:
        """These trials are going on and no others."""
        idle = {trial.key: standing.policies[code].mode == "none" for code, trial in standing.trials.items()}
        self._seen = {key: self._seen.get(key) or Evidence(key, idle[key]) for key in idle}

    async def load(self, path: Path) -> None:
        """What was seen before, of trials that are still going on; what this process has seen already is less, and
        goes."""
        found = await asyncio.to_thread(read, path)
        self._seen |= {key: found[key] for key in self._seen if key in found}

    async def save(self, path: Path, now: float | None) -> None:
        """Put it away, if that is due (none: it is) and anything is new."""
        if now is not None and now < self._saved + SAVED:
            return
        kept = dumped(self._seen)
        self._saved = now or self._saved
        if kept == self._kept:
            return
        try:
            await asyncio.to_thread(files.replace, path, kept)
        except OSError as fault:
            log.warning("what trials have shown is not kept for the next start: %s", fault)
            return
        self._kept = kept
