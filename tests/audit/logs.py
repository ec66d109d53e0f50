"""Audit logs for tests: written by the real writer, in all the ways that a gateway writes them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson
from msgspec import Raw

from gateway.audit import _letters, _row
from gateway.audit._letters import Batch, Letter
from gateway.audit._log import Bounds, Log
from gateway.audit._row import Row
from gateway.types import Reuse

LARGE = 1 << 30
USUAL = Bounds(LARGE, 16, "rotate", 0.02)
HOUSE: Mapping[str, Any] = {
    "kind": "house",
    "revision": "abc123def456",
    "files": {"gateway.yaml": "a" * 64, "output.yaml": "b" * 64},
    "rules": {
        "out.promise": {"version": "0123456789ab", "reason": "R205", "action": "rewind", "about": "No promises."}
    },
    "reasons": {
        "R205": {"name": "misleading.promise", "message": {"en": "Leave out promises.", "zh": "请不要承诺结果。"}},
    },
    "policies": {"R205": {"mode": "prefix", "version": "ba9876543210"}},
    "models": {"classifier": "c" * 64},
}


def sent(*letters: Letter) -> bytes:
    """Letters as they go to a clerk."""
    return b"".join(part for letter in letters for part in _letters.framed(_letters.written(letter)))


def arrived(handed: tuple[Any, ...]) -> Row:
    """What is handed over of an exchange, as the clerk has it."""
    batch = _letters._read(_letters.written(Batch([handed])))
    assert isinstance(batch, Batch)
    (raw,) = batch.rows
    assert isinstance(raw, Raw)
    row = _row.read(raw)
    assert isinstance(row, Row)
    return row


def name(number: int) -> str:
    """The id of an exchange."""
    return f"rt-{hashlib.sha256(b'exchange %d' % number).hexdigest()[:24]}"


def exchange(number: int, **fields: Any) -> dict[str, Any]:
    """The line of an exchange, less its number."""
    usual = {
        "at": 1_700_000_000.0 + number,
        "kind": "exchange",
        "id": name(number),
        "tenant": "acme",
        "tier": "standard",
        "session": "",
        "surface": "chat",
        "model": "m",
        "backend": "up",
        "stream": True,
        "choices": 1,
        "parameters": {"temperature": 0.2, "seed": 7},
        "status": 200,
        "verdict": "allow",
        "revision": HOUSE["revision"],
        "seconds": 0.5,
        "first": 0.125,
        "usage": [7, 5],
        "finish": {"0": "stop"},
        "findings": [],
        "unlisted": 0,
        "halted": {},
        "attempts": [],
        "refined": {},
        "captures": [],
    }
    return {**usual, **fields}


def reuse(number: int, donor: int | None = None, **fields: Any) -> dict[str, Any]:
    """The line of the capture of an exchange, served by the capture of another."""
    told = Reuse(name(number), capture(number), "http://e:8000", "kept", "R205", captured=512)
    if donor is not None:
        told = told._replace(donor=capture(donor), donor_reason="R205", mode="prefix", injected=256)
    return {"kind": "reuse", **told._replace(**fields)._asdict()}


def capture(number: int) -> str:
    """The name of the capture of an exchange."""
    return hashlib.sha256(b"capture %d" % number).hexdigest()[:32]


def write(folder: Path, records: Iterable[Mapping[str, Any]], bounds: Bounds = USUAL, batch: int = 1) -> None:
    """A log that was begun, written and closed as usual."""
    log = Log(folder, bounds)
    waiting = list(records)
    for at in range(0, len(waiting), batch):
        log.append(waiting[at : at + batch])
    log.close()


def lines(folder: Path, worker: str = "w0") -> list[dict[str, Any]]:
    """Every line of a chain, read."""
    files = sorted(folder.glob(f"{worker}-*.jsonl"))
    return [orjson.loads(line) for path in files for line in path.read_bytes().splitlines()]


def kinds(folder: Path, worker: str = "w0") -> list[str]:
    return [line["kind"] for line in lines(folder, worker)]
