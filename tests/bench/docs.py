"""Real documents with their questions, for benches that must not be run on made-up text.

They are no part of the project: `--data DIR` names a folder that holds `docs/docs.zh.jsonl.gz` and
`docs/docs.en.jsonl.gz`, a JSON object a line: id, title, text, questions [{q, a?}], question_kind, source, split.
Only the splits train and dev ever become a Doc: what is set aside as test stays unseen.
"""

from __future__ import annotations

import gzip
import json
from argparse import ArgumentParser
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Lang = Literal["zh", "en"]
DEFAULT = Path(__file__).parents[3] / "shared" / "data"
SPLITS = frozenset({"train", "dev"})


@dataclass(frozen=True, slots=True)
class Doc:
    """A document and what people asked about it."""

    id: str
    lang: Lang
    title: str
    text: str
    questions: tuple[str, ...]
    source: str
    split: str


class NoData(Exception):
    """The documents are not there; says what to do."""


def add_option(parser: ArgumentParser) -> None:
    """`--data DIR`."""
    parser.add_argument("--data", type=Path, default=DEFAULT, help=f"folder of the documents (default: {DEFAULT})")


def load(data: Path, lang: Lang, *, least: int = 0, human: bool = False) -> list[Doc]:
    """The documents of a language, in the order of the file, without duplicates of a text.

    Those of `least` characters and more, with at least one question; `human`: only those that people asked about, not a
    template. Raises NoData if the file is missing or is none of ours.
    """
    file = data / "docs" / f"docs.{lang}.jsonl.gz"
    if not file.is_file():
        raise NoData(f"{file} is not there: name the folder that holds docs/ with --data DIR")
    try:
        rows = list(_rows(file))
        found = {row["text"]: _doc(row, lang) for row in rows if row["split"] in SPLITS and _fits(row, least, human)}
    except (OSError, EOFError, ValueError, KeyError) as e:
        raise NoData(f"{file} can't be read as documents ({e!r}): fetch it again") from e
    return list(found.values())


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _fits(row: dict[str, Any], least: int, human: bool) -> bool:
    return len(row["text"]) >= least and bool(row["questions"]) and not (human and row["question_kind"] != "human")


def _doc(row: dict[str, Any], lang: Lang) -> Doc:
    asked = tuple(question["q"].strip() for question in row["questions"])
    return Doc(row["id"], lang, row["title"], row["text"], asked, row["source"], row["split"])
