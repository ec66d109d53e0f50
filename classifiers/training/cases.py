"""Questions with answers that were found right or wrong, read from the folder given as `--data`.

They are no part of this repository. Each has a split, and all that ask nearly the same are in one split.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from classifiers.reading import Asked
from classifiers.training.data import Source

FILES: Final = ("en", "zh", "zh-Hant")
SHORTCUTS: Final = ("halueval-qa", "uhgeval")  # told by length or style alone: neither trained on nor counted
SWAPPED: Final = "-spanswap"  # sources whose wrong answers are other parts of the same context


class Case(NamedTuple):
    """An answer, and whether it needs refining."""

    asked: Asked
    wrong: bool
    source: str  # with its language
    split: str
    group: str


def load(folder: Path) -> list[Case]:
    """All of them, in the files' order. SystemExit with the way out if they aren't there."""
    return [
        Case(
            Asked(line["question"], line.get("context") or "", line["answer"]), bool(line["label"]),
            f"{line['source']}.{line['lang']}", line["split"], line["group"],
        )
        for name in FILES
        for line in _lines(folder, name)
    ]  # fmt: skip


def swapped(source: str) -> bool:
    """Whether its wrong answers are other parts of the same context."""
    return SWAPPED in source


def learnt(cases: Iterable[Case]) -> list[Case]:
    """Those that are trained on."""
    return [case for case in cases if case.split == "train" and not case.source.startswith(SHORTCUTS)]


def share(cases: Iterable[Case], part: float) -> Iterator[Case]:
    """All but the answers to some questions of the training split: a share of them is left, always the same ones."""
    for case in cases:
        if case.split != "train" or zlib.crc32(case.group.encode()) < part * 2**32:
            yield case


def sources(folder: Path) -> list[Source]:
    """Whose answers are trained on, with licences."""
    counts = Counter(
        (f"{line['source']} ({line['lang']})", line["licence"])
        for name in FILES
        for line in _lines(folder, name)
        if line["split"] == "train" and not line["source"].startswith(SHORTCUTS)
    )
    return [Source(name, licence, rows) for (name, licence), rows in sorted(counts.items())]


def digest(folder: Path) -> str:
    """One hash of all files that are read."""
    whole = hashlib.sha256()
    for name in FILES:
        whole.update(_file(folder, name).read_bytes())
    return whole.hexdigest()


def _file(folder: Path, name: str) -> Path:
    path = folder / "refine" / f"refine.{name}.jsonl.gz"
    if not path.is_file():
        raise SystemExit(
            f"{path} is not there, and without it there is nothing to judge by. The shipped models need no data; to "
            "judge or train them, name the folder that holds refine/ with --data DIR."
        )
    return path


def _lines(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(_file(folder, name), "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)
