"""Corrections put into an answer. Each must be found in it, once, word for word; all else stays as it was."""

from __future__ import annotations

from typing import NamedTuple

from gateway.refine.caution import Language
from gateway.refine.reply import Fate
from gateway.refine.wording import MARKS, listed
from gateway.types import Correction

SHORTEST, LONGEST = 0.5, 2.0  # how long a corrected text may be, over the answer's own length


class Edited(NamedTuple):
    """An answer with its corrections made; those that could not be, and why."""

    text: str
    made: tuple[Correction, ...]
    dropped: tuple[Fate, ...]


def edited(answer: str, corrections: tuple[Correction, ...], marked: bool, language: Language) -> Edited:
    """Put the corrections in. `marked`: each with a mark, and an end note that tells the evidence."""
    places: list[tuple[int, int, Correction]] = []
    dropped: list[Fate] = []
    for one in corrections:
        start = answer.find(one.quote)
        end = start + len(one.quote)
        if start < 0:
            dropped.append("not_found")
        elif answer.find(one.quote, start + 1) >= 0 or any(s < end and start < e for s, e, _ in places):
            dropped.append("ambiguous")  # which of them is wrong nobody has said
        else:
            places.append((start, end, one))
    text = answer
    for start, end, one in sorted(places, reverse=True):
        text = text[:start] + (MARKS[language] if marked else "") + one.fixed + text[end:]
    made = tuple(one for _, _, one in sorted(places))
    return Edited(text + listed(language, made) if made and marked else text, made, tuple(dropped))


def sane(answer: str, clean: str) -> bool:
    """Whether a corrected text (without marks) is still about as long as the answer was."""
    return bool(clean.strip()) and SHORTEST <= len(clean) / max(len(answer), 1) <= LONGEST


def marks(text: str) -> int:
    """How many corrections a text carries already."""
    return sum(text.count(mark) for mark in MARKS.values())
