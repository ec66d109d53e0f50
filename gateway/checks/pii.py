"""`type: pii`: mail addresses, phone numbers, bank cards, Chinese resident ids, IBANs; with their checksums."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import Literal, NamedTuple, Self

import stdnum.cn.ric
import stdnum.iban
import stdnum.luhn
from pydantic import Field

from gateway.checks import Active, Check, Scanner
from gateway.checks._matcher import Matcher
from gateway.checks._pattern import translate
from gateway.types import Hit, Scan, View


class Kind(StrEnum):
    """What may be looked for."""

    EMAIL = "email"
    PHONE = "phone"
    CARD = "card"
    CN_ID = "cn_id"
    IBAN = "iban"


class _Shape(NamedTuple):
    pattern: str
    valid: Callable[[str], int]  # how many characters of a match are the real thing; 0: none


def _all(text: str) -> int:
    return len(text)


def _phone(text: str) -> int:
    return len(text) if 8 <= sum(map(str.isdigit, text)) <= 15 else 0


def _card(text: str) -> int:
    """The longest beginning that ends with a group of digits and passes the Luhn test."""
    for end in [len(text), *(m.start() for m in reversed(list(re.finditer(r"[ -]", text))))]:
        digits = re.sub(r"\D", "", text[:end])
        if 13 <= len(digits) <= 19 and len(set(digits)) > 1 and stdnum.luhn.is_valid(digits):
            return end
    return 0


def _cn_id(text: str) -> int:
    return len(text) if stdnum.cn.ric.is_valid(text) else 0


def _iban(text: str) -> int:
    for end in [len(text), *(m.start() for m in reversed(list(re.finditer(" ", text))))]:
        if stdnum.iban.is_valid(text[:end]):
            return end
    return 0


_SHAPES: dict[Kind, _Shape] = {
    Kind.EMAIL: _Shape(
        r"[A-Za-z0-9][A-Za-z0-9._%+'-]{0,63}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,80}[A-Za-z0-9])?\.[A-Za-z]{2,24}\b",
        _all,
    ),
    Kind.PHONE: _Shape(
        r"(?:\+86[ -]?|\b(?:86[ -]?)?)1[3-9][0-9][ -]?[0-9]{4}[ -]?[0-9]{4}\b"
        r"|\+[0-9]{1,3}(?:[ .-]?\(?[0-9]{1,4}\)?){2,5}\b"
        r"|(?:\(|\b)[0-9]{3}\)?[ .-][0-9]{3}[ .-][0-9]{4}\b",
        _phone,
    ),
    Kind.CARD: _Shape(r"\b[2-6](?:[ -]?[0-9]){12,18}\b", _card),
    Kind.CN_ID: _Shape(r"\b[1-9][0-9]{16}[0-9Xx]\b", _cn_id),
    Kind.IBAN: _Shape(r"\b[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,4})?\b", _iban),
}
_KINDS = tuple(Kind)


class Plug(Check):
    """Finds personal data of the given `kinds`; numbers with a checksum only where it is right."""

    type: Literal["pii"] = "pii"
    kinds: frozenset[Kind] = Field(default=frozenset(Kind), min_length=1)

    @classmethod
    def fuse(cls, checks: Sequence[Self]) -> Scanner:
        return PiiScanner([check.kinds for check in checks])

    def look(self, view: View) -> tuple[list[tuple[int, int]], int]:
        hits, hold = self.fuse([self]).scan(view, frozenset({0}))
        return [(hit.start, hit.end) for hit in hits], hold


class PiiScanner:
    """All kinds in one pass; each hit is given to the checks that want its kind."""

    def __init__(self, wanted: Sequence[frozenset[Kind]]) -> None:
        self._matcher = Matcher([translate(_SHAPES[kind].pattern, ignore_case=False) for kind in _KINDS])
        self._owners = [frozenset(i for i, kinds in enumerate(wanted) if kind in kinds) for kind in _KINDS]

    def scan(self, view: View, active: Active) -> Scan:
        text, begin = view.text, view.begin
        matching, alive = self._matcher.suspects(text[begin - 1 :] if begin > 1 else text)
        hits = [
            Hit(index, *span)
            for number in matching
            for span in self._valid(number, text, begin)
            for index in sorted(self._owners[number] & active)
        ]
        if view.final:
            return Scan(hits, len(text))
        tails = [self._matcher.tail(n, text, begin) for n in alive if self._owners[n] & active]
        return Scan(hits, min(tails, default=len(text)))

    def _valid(self, number: int, text: str, begin: int) -> Iterator[tuple[int, int]]:
        """The matches that hold; behind one that does not, the search goes on one character later."""
        valid = _SHAPES[_KINDS[number]].valid
        while span := next(self._matcher.spans(number, text, begin), None):
            length = valid(text[slice(*span)])
            if length:
                yield span[0], span[0] + length
            begin = span[0] + (length or 1)
