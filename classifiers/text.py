"""The normal form of a text, its words and its n-grams: the same question typed another way becomes the same.

Chinese is cut into characters, everything else into words; nothing is segmented by a dictionary, so nothing depends on
one. Two grades: `clean` keeps every word and is what the encoder reads; `normal` leaves out the words that say nothing
of what is asked and is what n-grams are made of.
"""

from __future__ import annotations

import functools
import hashlib
import re
import unicodedata
import zlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from classifiers import lists

VOCABULARY = 50_000  # n-gram ids
OWN = 8_000  # the first of them belong to the terms of the word lists,
SINGLE = 28_000  # then up to here to single words, and the rest to runs of words
STEM = 4  # letters by which words of one stem meet: cancel, cancelled, cancelling
MOST = 8_192  # characters that are looked at; more would cost more and tell no more

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_WORD = re.compile(rf"[{_HAN}]|[^\W_{_HAN}]+(?:[.+'-][^\W_{_HAN}]+)*|[\u2600-\u27bf\U0001f000-\U0001faff]")
_SPACE = re.compile(r"\s+")
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\xad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]"
)
_AGAIN = re.compile(r"([^\w\s])\1+")
_ENDS = " .,;:!?-~\"'"
_ALIKE = {
    ".": "。｡",
    ",": "、﹑",
    '"': "“”„‟«»《》〈〉「」『』〝〞",
    "'": "‘’‚‛`´",
    "-": "‐‑‒–—―−─",
    "[": "【〔〖",
    "]": "】〕〗",
    "~": "〜～",
    " ": "·•・",
}
_SAMPLE = (
    "请问T+0交割的“手续费”为什么被取消了？ Please tell me why my ｒｅｆｕｎｄ of 3.5% wasn't cancelled — again! 😀"
)
_TO_ONE = str.maketrans({other: mark for mark, others in _ALIKE.items() for other in others})


def clean(text: str) -> str:
    """The text in lower case, one spelling for each mark, no mark at its ends; every word kept."""
    text = text[:MOST].encode("utf-8", "ignore").decode()  # half of a surrogate pair is no text
    text = unicodedata.normalize("NFKC", _UNSEEN.sub("", text)).lower().translate(_TO_ONE)
    text = _SPACE.sub(" ", unicodedata.normalize("NFKC", text))
    return _AGAIN.sub(r"\1", text).strip(_ENDS)


def normal(text: str) -> str:
    """The words that matter, separated by spaces. If none does, all of them."""
    text = clean(text)
    chinese, english = _stop_words()
    kept = [word for word in _WORD.findall(chinese.sub(" ", text)) if word not in english]
    return " ".join(kept or _WORD.findall(text))


def words(text: str) -> list[str]:
    """The words of the normal form: Chinese characters one by one, other words whole."""
    return normal(text).split()


def grams(text: str, window: int = 3) -> NDArray[np.int32]:
    """The ids of a text, each once: its words, their stems, runs of up to `window` words, terms of the word lists."""
    cut = words(text)
    found = set(_own(cut))
    found.update(_hashed(word, OWN, SINGLE) for word in cut)
    found.update(_hashed(word[:STEM] + "-", OWN, SINGLE) for word in cut if len(word) > STEM and word.isascii())
    for size in range(2, window + 1):
        runs = zip(*(cut[start:] for start in range(size)), strict=False)
        found.update(_hashed(" ".join(run), SINGLE, VOCABULARY) for run in runs)
    return np.array(sorted(found), dtype=np.int32)


@functools.cache
def fingerprint() -> str:
    """A hash of the word lists and of the ids that a sample gets: weights fit only the ids they were learnt with."""
    whole = hashlib.sha256(lists.everything().encode())
    whole.update(grams(_SAMPLE, window=5).astype("<i4").tobytes())
    return whole.hexdigest()


def _hashed(run: str, start: int, end: int) -> int:
    return start + zlib.crc32(run.encode()) % (end - start)


class _Terms(NamedTuple):
    numbers: dict[tuple[str, ...], int]
    lengths: dict[str, tuple[int, ...]]  # by a term's first word


def _own(cut: list[str]) -> Iterator[int]:
    known = _terms()
    for start, word in enumerate(cut):
        for length in known.lengths.get(word, ()):
            number = known.numbers.get(tuple(cut[start : start + length]))
            if number is not None:
                yield number


@functools.cache
def _terms() -> _Terms:
    numbers: dict[tuple[str, ...], int] = {}
    lengths: dict[str, set[int]] = {}
    for term in (term for domain in lists.DOMAINS for term in lists.terms(domain)):
        cut = tuple(words(term))
        numbers.setdefault(cut, len(numbers))
        lengths.setdefault(cut[0], set()).add(len(cut))
    return _Terms(numbers, {word: tuple(sorted(found)) for word, found in lengths.items()})


@functools.cache
def _stop_words() -> tuple[re.Pattern[str], frozenset[str]]:
    longest_first = sorted(lists.read(lists.STOP_WORDS, "zh"), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first))), frozenset(lists.read(lists.STOP_WORDS, "en"))
