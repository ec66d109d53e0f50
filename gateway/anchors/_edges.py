"""Where characters and words end: what a reader sees as one is never cut in two."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

# Written without spaces between the words.
WIDE = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_wide = re.compile(f"[{WIDE}]").match
_OPENING = "“‘「『（《〈【\"'(\\[{{"
_WORD_END = re.compile(
    f"(?<=\\S)(?=\\s)|(?<=[^\\s{WIDE}{_OPENING}])(?=[{WIDE}])|(?<=[{WIDE}，。；：！？、])(?=[\\w{_OPENING}])"
)
# What never stands alone but is no mark by its category: joiners, skin tones, tags, vowels and endings of Hangul,
# Thai and Lao AM, half-width voicing, the second half of a pair.
_TRAILING = re.compile(
    "[\u200c\u200d\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f\u1160-\u11ff\ud7b0-\ud7fb\u0e33\u0eb3\uff9e\uff9f\udc00-\udfff]"
)
_LEADING = re.compile("[\u200d\ud800-\udbff\u1100-\u115f\ua960-\ua97c]")
_FLAGS = re.compile("[\U0001f1e6-\U0001f1ff]+\\Z")
_VIRAMA = 9  # the combining class of what joins two consonants


def wide(char: str) -> bool:
    """Whether a character belongs to a script written without spaces."""
    return bool(_wide(char))


def joined(text: str, position: int) -> bool:
    """Whether a cut here would split what a reader sees as one character (or could, if the text ends here)."""
    before, behind = text[position - 1 : position], text[position : position + 1]
    if not before:
        return False
    if before == "\r":
        return behind in ("", "\n")
    if before.isascii() and behind.isascii():
        return False
    if _LEADING.match(before) or unicodedata.combining(before) == _VIRAMA:
        return True
    if _FLAGS.match(before) and (not behind or _FLAGS.match(behind)):
        return _odd_flags(text, position)
    return bool(behind) and (unicodedata.category(behind)[0] == "M" or bool(_TRAILING.match(behind)))


def word_ends(text: str, begin: int, end: int) -> Iterator[int]:
    """Positions in [begin, end] where a word has ended for sure, since what follows is there to see."""
    for found in _WORD_END.finditer(text, max(begin, 0)):
        if found.start() > end:
            return
        yield found.start()


def _odd_flags(text: str, position: int) -> bool:
    """A flag is two letters: after an odd number of them it is half drawn."""
    start = position
    while start and _FLAGS.match(text[start - 1]):
        start -= 1
    return (position - start) % 2 == 1
