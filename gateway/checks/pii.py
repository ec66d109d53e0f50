"""`type: pii`: mail addresses, phone numbers, bank cards, Chinese resident ids, IBANs; with their checksums."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import cache
from typing import Literal, NamedTuple

import stdnum.cn.ric
import stdnum.iban
import stdnum.luhn
from pydantic import Field
from stdnum.exceptions import ValidationError

from gateway.checks._matcher import Needle, PatternCheck
from gateway.checks._pattern import translate


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


def _phone(text: str) -> int:
    """A number of a plausible length; not a Chinese service line, which is nobody's own."""
    if re.match(r"[48]00\b", text):
        return 0
    return len(text) if 8 <= sum(map(str.isdigit, text)) <= 15 else 0


def _card(text: str) -> int:
    """The longest beginning that ends with a group of digits and passes the Luhn test."""
    for end in [len(text), *(m.start() for m in reversed(list(re.finditer(r"[ -]", text))))]:
        digits = re.sub(r"\D", "", text[:end])
        if 13 <= len(digits) <= 19 and len(set(digits)) > 1 and stdnum.luhn.is_valid(digits):
            return end
    return 0


def _cn_id(text: str) -> int:
    """Check digit and date; not the county, since many people hold numbers of one that was no more or not yet."""
    try:
        born = stdnum.cn.ric.get_birth_date(text)
    except ValidationError:
        return 0
    return len(text) if born.year >= 1880 and stdnum.cn.ric.calc_check_digit(text) == text[-1].upper() else 0


def _iban(text: str) -> int:
    for end in [len(text), *(m.start() for m in reversed(list(re.finditer(" ", text))))]:
        if stdnum.iban.is_valid(text[:end]):
            return end
    return 0


_SHAPES: dict[Kind, _Shape] = {
    Kind.EMAIL: _Shape(
        r"[A-Za-z0-9][A-Za-z0-9._%+'-]{0,63}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,80}[A-Za-z0-9])?\.[A-Za-z]{2,24}\b",
        len,
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


class Plug(PatternCheck):
    """Finds personal data of the given `kinds`; numbers with a checksum only where it is right."""

    type: Literal["pii"] = "pii"
    kinds: frozenset[Kind] = Field(default=frozenset(Kind), min_length=1)

    def needles(self) -> Sequence[Needle]:
        return [_needle(kind) for kind in sorted(self.kinds)]


@cache
def _needle(kind: Kind) -> Needle:
    shape = _SHAPES[kind]
    return Needle(translate(shape.pattern, ignore_case=False), shape.valid)
