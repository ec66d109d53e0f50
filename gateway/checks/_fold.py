"""One plain form of a text, in which the usual evasions look alike: full-width and styled letters, case, zero-width.

Folding goes character by character and knows no neighbours, so a stream folds the same however it was cut.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Sequence

# Characters whose plain form is their lower case, one to one: the fast road for nearly all text.
_PLAIN = re.compile(
    "[^\x00-\x7f\u00bf-\u00de\u00e0-\u012f\u0134-\u013e\u0141-\u0148\u0400-\u0481\u048a-\u04ff\u2012-\u2016\u2018-\u2023\u3001-\u303f"
    "\u3041-\u3096\u30a1-\u30fe\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3，。！？：；（）]"
)
_INVISIBLE = {
    "Cf",
    "Mn",
    "Me",
    "Cc",
}  # format characters, combining marks, controls: nothing that a reader sees


@functools.lru_cache(maxsize=65536)
def _fold_char(char: str) -> str:
    if not _PLAIN.search(char):
        return char.lower()
    if unicodedata.category(char) in _INVISIBLE:
        return ""
    return unicodedata.normalize("NFKC", char).lower()


def fold(text: str) -> tuple[str, Sequence[int]]:
    """The plain form, and for each of its positions (and its end) the position in `text` it came from."""
    if text.isascii() or not _PLAIN.search(text):
        return text.lower(), range(len(text) + 1)
    plain: list[str] = []
    origin: list[int] = []
    for position, char in enumerate(text):
        folded = _fold_char(char)
        plain.append(folded)
        origin += [position] * len(folded)
    origin.append(len(text))
    return "".join(plain), origin
