"""Documents that refer back: their head states a value, the rest points to it and never repeats it.

Each comes with an old and a new value. The KV of the rest, computed under the old head, may know the old value; whether
a model that is given the new head still answers with the new one is what the bench asks. The texts are hand-written,
in material/: two paragraphs of a document are its own, the others are shared by a few and point back in its words.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any, Literal

import yaml

from tests.bench.docs import Lang

MATERIAL = Path(__file__).parent / "material"
Followed = Literal["new", "old", "both", "neither"]


@dataclass(frozen=True, slots=True)
class Value:
    """What stands at the head, and in which spellings an answer may give it."""

    text: str
    accepted: tuple[str, ...]

    def said_in(self, answer: str) -> bool:
        """Whether an answer says it: any spelling, as a word or number of its own."""
        said = _plain(answer)
        return any(re.search(_alone(_plain(spelling)), said) for spelling in self.accepted)


@dataclass(frozen=True, slots=True)
class Document:
    """A head with a slot for its value, and what follows it."""

    id: str
    lang: Lang
    field: str
    kind: str
    head: str
    ref: str
    """How the rest points to the value."""
    old: Value
    new: Value
    body: str
    question: str

    def preamble(self, value: Value) -> str:
        """The head with a value in its place."""
        return self.head.replace("{value}", value.text)

    def text(self, value: Value) -> str:
        """The whole document."""
        return f"{self.preamble(value)}\n\n{self.body}"

    def followed(self, answer: str) -> Followed:
        """Which head an answer follows."""
        new, old = self.new.said_in(answer), self.old.said_in(answer)
        if new and old:
            return "both"
        return "new" if new else "old" if old else "neither"


@cache
def documents(lang: Lang) -> tuple[Document, ...]:
    """The set of a language, always the same in the same order."""
    # Everything as text: YAML would make dates and numbers of some spellings.
    told = yaml.load((MATERIAL / f"backref.{lang}.yaml").read_text(encoding="utf-8"), yaml.BaseLoader)
    shared = {kind: cycle(paragraphs) for kind, paragraphs in told["paragraphs"].items()}
    return tuple(_document(lang, row, shared[row["kind"]], shared["any"]) for row in told["documents"])


def _document(lang: Lang, row: dict[str, Any], kind: Iterator[str], common: Iterator[str]) -> Document:
    own = row["body"]
    parts = [own[0], next(kind), next(common), next(common), own[1], next(kind), next(common)]
    return Document(
        id=row["id"],
        lang=lang,
        field=row["field"],
        kind=row["kind"],
        head=row["preamble"],
        ref=row["ref"],
        old=_value(row["old"], row["kind"]),
        new=_value(row["new"], row["kind"]),
        body="\n\n".join(part.replace("{ref}", row["ref"]) for part in parts),
        question=row["question"],
    )


def _value(spellings: list[str], kind: str) -> Value:
    """The first spelling stands in the text. Of amounts and limits the bare number will do."""
    bare = re.findall(r"\d[\d,.]*", spellings[0]) if kind in ("amount", "limit") else []
    return Value(spellings[0], tuple(dict.fromkeys([*spellings, *bare])))


_CJK = r"[\u3000-\u30ff\u4e00-\u9fff]"


def _plain(text: str) -> str:
    """Lower case, half width, numbers without separators of thousands and empty decimals, dates without suffixes."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)
    text = re.sub(r"(?<=\d)\.0+(?!\d)", "", text)
    text = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b(?: of\b)?", "", text)
    return re.sub(rf"\s+(?={_CJK})|(?<={_CJK})\s+", "", " ".join(text.split()))


def _alone(spelling: str) -> str:
    """A pattern for it that doesn't match a part of a longer number or word."""
    return rf"(?<![a-z\d])(?<!\d\.){re.escape(spelling)}(?![a-z\d])(?!\.\d)"
