"""The public texts and pairs that the models are made of and judged by, read from the folder given as `--data`.

They are no part of this repository. Each row has a split; what trains never reads the test split, and leaves out every
text that stands in dev or test too.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from classifiers.lists import LANGUAGES

DEFAULT: Final = Path(__file__).resolve().parents[3] / "shared" / "data"
RANDOM: Final = "random-neg"  # the kind of negative that is easy
_SENTENCE_END: Final = re.compile(r"(?<=[。！？!?；])|(?<=[.!?]) |\n")
LONGEST: Final = {"zh": 60, "en": 160}  # characters of a sentence; questions are short
SHORTEST: Final = 6

Split = Literal["train", "dev", "test"]


class Pair(NamedTuple):
    """Two texts, and whether they ask the same."""

    a: str
    b: str
    same: bool
    kind: str
    set: str  # source.language
    split: Split


class Source(NamedTuple):
    """Where texts come from, for the model card."""

    name: str
    licence: str
    rows: int


def option(parser: ArgumentParser) -> None:
    """Adds `--data`."""
    parser.add_argument("--data", type=Path, default=DEFAULT, metavar="DIR", help=f"the data folder ({DEFAULT})")


def pairs(folder: Path) -> list[Pair]:
    """All pairs of both languages."""
    return [
        Pair(row["a"], row["b"], bool(row["label"]), row["kind"], f"{row['source']}.{language}", row["split"])
        for language in LANGUAGES
        for row in _rows(folder, "pairs", language)
    ]


def sentences(folder: Path) -> list[str]:
    """Sentences and questions of the documents that are for training, each once."""
    found: dict[str, None] = {}
    for language in LANGUAGES:
        for row in _rows(folder, "docs", language):
            if row["split"] == "train":
                found.update(dict.fromkeys(question["q"] for question in row["questions"]))
                found.update(dict.fromkeys(_cut(row["text"], LONGEST[language])))
    return list(found)


def sources(folder: Path) -> list[Source]:
    """Whose texts are trained on, with licences."""
    counts: dict[tuple[str, str], int] = {}
    for room in ("pairs", "docs"):
        for language in LANGUAGES:
            for row in _rows(folder, room, language):
                if row["split"] == "train":
                    key = (f"{room}: {row['source']} ({language})", row["licence"])
                    counts[key] = counts.get(key, 0) + 1
    return [Source(name, licence, rows) for (name, licence), rows in sorted(counts.items())]


def digest(folder: Path) -> str:
    """One hash of all files that are read."""
    whole = hashlib.sha256()
    for room in ("pairs", "docs"):
        for language in LANGUAGES:
            whole.update(_file(folder, room, language).read_bytes())
    return whole.hexdigest()


def _cut(text: str, longest: int) -> Iterator[str]:
    for piece in _SENTENCE_END.split(text):
        sentence = piece.strip()
        if SHORTEST <= len(sentence) <= longest:
            yield sentence


def _file(folder: Path, room: str, language: str) -> Path:
    path = folder / room / f"{room}.{language}.jsonl.gz"
    if not path.is_file():
        raise SystemExit(f"{path} is not there. Name the folder that holds pairs/ and docs/ with --data DIR.")
    return path


def _rows(folder: Path, room: str, language: str) -> Iterator[dict[str, Any]]:
    with gzip.open(_file(folder, room, language), "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)
