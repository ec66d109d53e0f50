"""A question in its plain form, and cut into tokens: the ground on which all gates stand.

A token says which gate answers for it. One without a gate is raw: a word as it was written, which nobody has read yet.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple


class Token(NamedTuple):
    """A part of a question: the gate that answers for it, and what it says, the same however it was written."""

    gate: str
    value: str


Tokens = Sequence[Token]

RAW = ""
NOTES = frozenset(("mood", "voice", "language"))  # what is said of a question as a whole, behind its words


def each(words: str) -> Sequence[str]:
    """The words of a table that is written as one text."""
    return words.split()


_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufe00-\ufe0f\ufeff\x00-\x08\x0e-\x1f\x7f]")
_SAME = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033『』「」«»", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        "。": ".",
        "、": ",",
        "〇": "零",
        "兩": "两",
    }
)
_ENDS = " .,!?;:~…"  # what stands around a question and means nothing

HAN = "\u3400-\u4dbf\u4e00-\u9fff"
LATIN = "a-z\u00df-\u00f6\u00f8-\u024f"
_SCRIPTS = (
    ("zh", re.compile(f"[{HAN}]")),
    ("ja", re.compile("[\u3041-\u30fe]")),
    ("ko", re.compile("[\uac00-\ud7a3]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("ar", re.compile("[\u0590-\u06ff]")),
)


def plain(text: str) -> str:
    """The normal form: width, case, white space and the kinds of quotes and dashes no longer tell texts apart."""
    if text.isascii():
        folded = _INVISIBLE.sub("", text).lower().translate(_SAME)
    else:
        # Character by character, then composed: the same as all at once, and never slow.
        folded = unicodedata.normalize("NFC", text.translate({ord(char): _folded(char) for char in set(text)}))
    return " ".join(folded.split()).strip(_ENDS)


def _folded(char: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", char).casefold())
    return _INVISIBLE.sub("", folded).translate(_SAME)


def language(text: str) -> str:
    """Which scripts a text is written in; an answer in another one would be no answer."""
    return "+".join(name for name, pattern in _SCRIPTS if pattern.search(text)) or "en"
