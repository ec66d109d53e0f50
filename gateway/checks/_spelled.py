"""Words spelled out, with a separator or two between their characters: "b.o.m.b", "炸 弹".

Only words of one script can be: each character of a Latin word then stands alone, those of a Chinese word need not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gateway.checks._matcher import searcher

LATIN = "0-9a-z\u00df-\u024f"
HAN = "\u3041-\u30fe\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
_GAP = r"[ \t.*_\-·|/+~^#]"
_ALONE = f"(?<![{LATIN}])[{LATIN}](?![{LATIN}])"
_RUN = re.compile(f"[{HAN}]+(?:{_GAP}{{1,2}}[{HAN}]+)+|{_ALONE}(?:{_GAP}{{1,2}}{_ALONE})+")
_TAIL = re.compile(f"(?:[{HAN}]{_GAP}{{0,2}})+\\Z|(?:{_ALONE}{_GAP}{{0,2}})+\\Z")
_SOLID = re.compile(r"[^ \t.*_\-·|/+~^#]")
_ONE_SCRIPT = re.compile(f"[{LATIN}]{{2,}}|[{HAN}]{{2,}}")

somewhere = searcher(
    f"[{HAN}]{_GAP}{{1,2}}[{HAN}]|(?:^|[^{LATIN}])[{LATIN}]{_GAP}{{1,2}}[{LATIN}](?:[^{LATIN}]|$)"
)  # a cheap no for nearly all text


class Solid(NamedTuple):
    """Characters with the separators between them gone, and where each of them stood."""

    text: str
    places: list[int]


def can_be(word: str) -> bool:
    """Whether a word can be spelled out."""
    return _ONE_SCRIPT.fullmatch(word) is not None


def runs(text: str) -> Iterator[Solid]:
    """All that is spelled out in a text."""
    return (_solid(text, *run.span()) for run in _RUN.finditer(text))


def tail(text: str, reach: int) -> Solid | None:
    """What may be being spelled out at the end of a text, looked for from `reach` on."""
    run = _TAIL.search(text, max(reach, 0))
    return _solid(text, *run.span()) if run else None


def _solid(text: str, start: int, end: int) -> Solid:
    places = [match.start() for match in _SOLID.finditer(text, start, end)]
    return Solid("".join(text[place] for place in places), places)
