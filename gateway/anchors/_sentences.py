"""Where sentences end, Chinese and English side by side.

It leans to silence: a full stop that may belong to an abbreviation, a number or an address ends nothing. To miss an end
costs a few words that are written again; to see one that is none would cut a fact in two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gateway.anchors._edges import wide

_LOOK_BACK = 512  # on one line, for the quote that opened
_WORD_LENGTH = 24
_STOP = re.compile(r"[.!?。！？；…．｡]+|\n[ \t\r]*\n")
_CLOSERS = re.compile(r"[”’」』）)】》〉］\]}]*")
_EITHER = re.compile(r"([\"'*_~])\1*")  # opens and closes
_GAP = re.compile(r"\s{0,64}")
_WORD = re.compile(r"(?:[^\W\d_]|\.)+\Z")
_INITIALS = re.compile(r"(?:\w\.)*\w\Z")
_LIST_NUMBER = re.compile(r"(?:^[ \t>*_#+-]*|[。！？；：:;] ?)(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})\Z", re.MULTILINE)
_FULL = frozenset("。！？；｡")
_GOES_ON = frozenset("，、：；,;:—–…。！？.!?")
_TITLES = "dr mr mrs ms mx prof st mt jr sr hon rev gen col capt lt sgt gov sen rep pres messrs mme mlle"
_SHORT = (
    "vs viz approx ca cf al eg ie esp incl excl resp inc ltd co corp dept univ assn bros ave blvd tel ext ed eds ph.d"
)
_COUNTED = "no nos fig figs eq eqs sec secs ch vol p pp art arts para ver v pt tab ex ref max min est apt rm"
_MONTHS = "jan feb mar apr jun jul aug sep sept oct nov dec"
_NEVER_LAST = frozenset([*_TITLES.split(), *_SHORT.split()])
_BEFORE_NUMBERS = frozenset([*_COUNTED.split(), *_MONTHS.split()])


def sentence_ends(text: str, low: int, high: int) -> Iterator[int]:
    """Positions in [low, high] where a sentence has ended, as far as the text tells by now."""
    for stop in _STOP.finditer(text, max(low - _WORD_LENGTH, 0)):
        if stop.start() >= high:
            return
        blank = stop[0][0] == "\n"
        end = stop.end() if blank else _with_closers(text, stop.end())
        if low <= end <= high and (blank or _is_end(text, stop, end)):
            yield end


def _with_closers(text: str, at: int) -> int:
    """Where the quotes, brackets and emphasis end that close right here."""
    while True:
        at = _end(_CLOSERS, text, at)
        run = _EITHER.match(text, at)
        if not run or not _closes(text, run):
            return at
        at = run.end()


def _closes(text: str, run: re.Match[str]) -> bool:
    """Whether marks that can open as well as close do the latter: nothing follows them, or they were opened before."""
    behind = text[run.end() : run.end() + 1]
    if not behind.isalnum():
        return True
    line = text.rfind("\n", max(run.start() - _LOOK_BACK, 0), run.start()) + 1
    return text.count(run[0], max(line, run.start() - _LOOK_BACK), run.start()) % 2 == 1


def _is_end(text: str, stop: re.Match[str], end: int) -> bool:
    behind = text[end : end + 1]
    if not behind or behind in _GOES_ON:
        return False
    marks, before = stop[0], text[stop.start() - 1 : stop.start()]
    if not _FULL.isdisjoint(marks):
        return True
    if "…" in marks or ".." in marks:
        return wide(before) or wide(behind) or (behind.isspace() and _begins_anew(text, end))
    if marks == "．":
        return not (before.isdigit() and behind.isdigit()) and not _is_list_number(text, stop.start())
    if wide(behind):
        return marks != "." or _is_plain(text, stop.start())
    return behind.isspace() and _begins_anew(text, end) and (marks != "." or not _is_abbreviated(text, stop, end))


def _begins_anew(text: str, at: int) -> bool:
    """Whether what follows looks like the begin of a sentence: another line, or no small letter."""
    gap = _end(_GAP, text, at)
    first = text[gap : gap + 1]
    return "\n" in text[at:gap] or (bool(first) and not first.islower())


def _is_plain(text: str, dot: int) -> bool:
    """Whether a stop before a Chinese character stands behind a whole word, and not behind a number or a title."""
    word = _word(text, dot)
    return len(word) > 1 and "." not in word and word not in _NEVER_LAST and not _is_list_number(text, dot)


def _is_abbreviated(text: str, stop: re.Match[str], end: int) -> bool:
    dot = stop.start()
    word = _word(text, dot)
    if word in _NEVER_LAST or _is_list_number(text, dot) or (word and _INITIALS.match(word)):
        return True
    gap = _end(_GAP, text, end)
    return word in _BEFORE_NUMBERS and text[gap : gap + 1].isdigit()


def _is_list_number(text: str, dot: int) -> bool:
    return bool(_LIST_NUMBER.search(text, max(dot - _WORD_LENGTH, 0), dot))


def _word(text: str, end: int) -> str:
    found = _WORD.search(text, max(end - _WORD_LENGTH, 0), end)
    return found[0].lower() if found else ""


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where a pattern ends that always matches."""
    found = pattern.match(text, at)
    return found.end() if found else at
