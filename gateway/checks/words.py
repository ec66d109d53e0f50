"""`type: words`: thousands of words in one pass (Aho-Corasick), in their usual disguises.

`ahocorasick_rs` rather than `pyahocorasick`: the latter walks a list of children at each character, 40 to 250 us for
400 characters and 10,000 words; this one takes about 5.

A word is found whatever its case and width, with zero-width characters inside, and spelled out with single
separators ("b.o.m.b", "炸 弹"). A Latin word must stand alone ("class" holds no shorter word); a Chinese one need not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal, Self

import ahocorasick_rs
from pydantic import Field, ValidationInfo, model_validator

from gateway.checks import Active, FusedCheck, Scanner, _spelled
from gateway.checks._fold import fold
from gateway.types import Hit, Scan, View

_latin = re.compile(f"[{_spelled.LATIN}]").match


class Plug(FusedCheck):
    """Finds any of `words`, or of the lines of `file` (one word a line, `#` begins a comment)."""

    type: Literal["words"] = "words"
    words: tuple[str, ...] = Field(default=(), examples=[["炸弹", "kill yourself"]])
    file: Path | None = Field(default=None, description="A list beside the YAML file, one word a line.")

    @model_validator(mode="after")
    def _some_words(self, info: ValidationInfo) -> Self:
        if self.file is not None:
            folder = Path((info.context or {}).get("folder", "."))
            object.__setattr__(self, "words", (*self.words, *_read(folder / self.file)))
        if not any(fold(word)[0].strip() for word in self.words):
            raise ValueError("no words given: fill `words` or name a `file` with one word a line")
        return self

    @cached_property
    def folded(self) -> frozenset[str]:
        return frozenset(filter(None, (fold(word)[0].strip() for word in self.words)))

    @classmethod
    def fuse(cls, checks: Sequence[Self]) -> Scanner:
        return WordScanner([check.folded for check in checks])


def _read(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as fault:
        raise ValueError(f"can't read the word list {path}: {fault}") from fault
    return [word for line in lines if (word := line.split("#", 1)[0].strip())]


class WordScanner:
    """All word lists of a rule set as one automaton; each word knows, as a bit mask, the lists it stands in."""

    def __init__(self, lists: Sequence[frozenset[str]]) -> None:
        owners: dict[str, int] = {}
        for index, words in enumerate(lists):
            for word in words:
                owners[word] = owners.get(word, 0) | 1 << index
        self._words = list(owners)
        self._owners = list(owners.values())
        self._bare = [bool(_latin(word[0])) + 2 * bool(_latin(word[-1])) for word in self._words]
        self._automaton = ahocorasick_rs.BytesAhoCorasick([word.encode() for word in self._words])
        self._begun = _begun(owners)
        spelled = {word: owner for word, owner in owners.items() if _spelled.can_be(word)}
        self._begun_spelled = _begun(spelled)
        self._latin_spelled = any(_latin(word) for word in spelled)
        self._longest = max(map(len, self._words))
        self._last = {prefix[-1] for prefix in self._begun}
        self._mask = lru_cache(maxsize=1024)(_mask)

    def scan(self, view: View, active: Active) -> Scan:
        context = _context(view)
        text, origin = fold(view.text[context:])
        mask = self._mask(active)
        spans = set(self._whole(text, mask))
        if (self._latin_spelled or not text.isascii()) and _spelled.somewhere(text):
            spans.update(self._spelled_out(text, mask))
        end = len(view.text)
        hits = [Hit(i, origin[s] + context, origin[e - 1] + 1 + context) for i, s, e in spans]
        hits = [hit for hit in hits if hit.start >= view.begin]
        if view.final or self._held(text, mask) == len(text):
            return Scan(hits, end)
        # Each list by itself: one that only watches must not make text wait for another's words.
        held = [(number, self._held(text, 1 << number)) for number in sorted(active)]
        return Scan(hits, end, [(n, max(origin[at] + context, view.begin)) for n, at in held if at < len(text)])

    def _held(self, text: str, mask: int) -> int:
        return min(self._tail(text, mask), self._spelled_tail(text, mask))

    def _whole(self, text: str, mask: int) -> Iterator[tuple[int, int, int]]:
        """Words as they are written."""
        for number, start, end in self._found(text):
            bare = self._bare[number]
            if bare & 1 and start and _latin(text[start - 1]):
                continue
            if bare & 2 and end < len(text) and _latin(text[end]):
                continue
            for index in _bits(self._owners[number] & mask):
                yield index, start, end

    def _found(self, text: str) -> Sequence[tuple[int, int, int]]:
        """Every word in a text: its number, start and end. It is looked for in bytes, which takes no copy of ASCII."""
        data = text.encode()
        found: list[tuple[int, int, int]] = self._automaton.find_matches_as_indexes(data, overlapping=True)
        if not found or len(data) == len(text):
            return found
        chars, seen = {0: 0}, 0
        for edge in sorted({edge for _, start, end in found for edge in (start, end)} - {0}):
            chars[edge] = chars[seen] + len(data[seen:edge].decode())
            seen = edge
        return [(number, chars[start], chars[end]) for number, start, end in found]

    def _spelled_out(self, text: str, mask: int) -> Iterator[tuple[int, int, int]]:
        """Words spelled out, with separators between their characters."""
        for solid, places in _spelled.runs(text):
            for number, start, end in self._found(solid):
                for index in _bits(self._owners[number] & mask):
                    yield index, places[start], places[end - 1] + 1

    def _tail(self, text: str, mask: int) -> int:
        """Where the longest word begins that the end of the text could grow into."""
        if not text or text[-1] not in self._last:
            return len(text)
        for start in range(max(len(text) - self._longest, 0), len(text)):
            if self._begun.get(text[start:], 0) & mask and not (
                start and _latin(text[start]) and _latin(text[start - 1])
            ):
                return start
        return len(text)

    def _spelled_tail(self, text: str, mask: int) -> int:
        """The same for a word being spelled out."""
        tail = _spelled.tail(text, len(text) - 3 * self._longest - 1)
        if tail:
            for start in range(max(len(tail.text) - self._longest, 0), len(tail.text)):
                if self._begun_spelled.get(tail.text[start:], 0) & mask:
                    return tail.places[start]
        return len(text)


def _context(view: View) -> int:
    """Where to begin: with the last character before the open part that a reader sees."""
    place = view.begin - 1
    while place > 0 and not fold(view.text[place])[0]:
        place -= 1
    return max(place, 0)


def _begun(owners: dict[str, int]) -> dict[str, int]:
    """Every beginning that could grow into a word; a Latin word itself, since what stands behind it matters."""
    begun: dict[str, int] = {}
    for word, owner in owners.items():
        whole = len(word) if _latin(word[-1]) else len(word) - 1
        for length in range(1, whole + 1):
            begun[word[:length]] = begun.get(word[:length], 0) | owner
    return begun


def _mask(active: Active) -> int:
    return sum(1 << index for index in active)


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
