"""How alike two answers are: ROUGE-L, the longest sequence of words both have in this order (Lin 2004, section 3).

English and other spaced scripts by words, Chinese and Japanese by characters, mixed texts by both; neither case nor
punctuation counts. It is no measure of truth: one wrong figure in a long answer costs next to nothing.
"""

from __future__ import annotations

import re

from rapidfuzz.distance import LCSseq

MOST = 4096  # words that are compared, from the beginning

_UNSPACED = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # kana and Han
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")


def words(text: str) -> list[str]:
    """What is compared of a text, at most MOST of it."""
    found = _WORD.finditer(text.casefold())
    return [match.group() for match, _ in zip(found, range(MOST), strict=False)]


def rouge_l(one: str, other: str) -> float:
    """The F measure, precision and recall weighing the same: 2 LCS / (m + n), from 0 (nothing in common) to 1."""
    mine, theirs = words(one), words(other)
    if not mine and not theirs:
        return 1.0
    return 2 * LCSseq.similarity(mine, theirs) / (len(mine) + len(theirs))
