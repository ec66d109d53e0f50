"""Stories for tests of pages: one in which much has happened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from gateway.audit.story import Story, told
from tests.audit.logs import HOUSE, exchange, name, reuse, write

BUSY: dict[str, Any] = {
    "verdict": "rewind",
    "asked": [
        {"role": "system", "text": "You advise customers of a bank. Name the source of each figure."},
        {"role": "user", "text": "What does the Harbour Fund pay a year? My account is [***]. 它的风险如何？"},
    ],
    "said": {
        "0": "The Harbour Fund paid 3.1% last year. Its value can fall as well as rise.\n过往业绩不代表未来表现。"
    },
    "left_out": 2,
    "findings": [
        {"rule": "in.account", "reason": "R102", "action": "mask", "side": "input", "start": 50, "end": 69},
        {"rule": "out.promise", "reason": "R205", "action": "rewind", "side": "output", "start": 25, "end": 42},
    ],
    "attempts": [
        {"choice": 0, "rule": "out.promise", "reason": "R205", "anchor": "sentence", "kept": 14, "wasted": 6},
        {"choice": 0, "rule": "out.promise", "reason": "R205", "anchor": "sentence", "kept": 3, "wasted": 4},
    ],
    "refined": {"0": {"outcome": "corrected", "why": "rules", "corrections": 1, "usage": [210, 40]}},
    "corrections": {"0": [{"quote": "paid 4.1%", "fixed": "paid 3.1%", "evidence": "Annual report, page 12: “3.1%”"}]},
    "usage": [812, 96],
}


def busy(folder: Path, **fields: Any) -> Story:
    """An answer that was cut back twice, corrected once, and served by captures of earlier ones."""
    lines = [HOUSE]
    for number in range(1, 7):
        lines += [exchange(number, verdict="block"), reuse(number, donor=number - 1 if number > 1 else None)]
    write(folder, [*lines, exchange(7, **{**BUSY, **fields}), reuse(7, donor=6, recomputed=16)])
    return known(folder, 7)


def known(folder: Path, number: int) -> Story:
    story = told(folder, name(number))
    assert story is not None
    return story
