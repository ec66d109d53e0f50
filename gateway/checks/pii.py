"""`type: pii`: mail addresses, phone numbers, bank cards, Chinese resident ids, IBANs; with their checksums."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import cache
from typing import Literal, NamedTuple

import stdnum.cn.ric
import stdnum.iban
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


_DOUBLED = bytes.maketrans(b"0123456789", bytes((0, 2, 4, 6, 8, 1, 3, 5, 7, 9)))
_SINGLE = bytes.maketrans(b"0123456789", bytes(range(10)))


def _luhn(digits: bytes) -> bool:
    """The Luhn test (ISO/IEC 7812-1, annex B). Ours: hostile text asks for it a thousand times in a millisecond."""
    return (sum(digits[-1::-2].translate(_SINGLE)) + sum(digits[-2::-2].translate(_DOUBLED))) % 10 == 0


def _card(text: str) -> int:
    """The longest beginning that ends with a group of digits and passes the Luhn test."""
    ends = [len(text), *(match.start() for match in reversed(list(re.finditer(r"[ -]", text))))]
    for end in ends:
        digits = text[:end].replace(" ", "").replace("-", "").encode()
        if len(digits) < 13:
            return 0
        if _luhn(digits) and digits.count(digits[:1]) < len(digits):
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
        bare = text[:end].replace(" ", "")
        remainder = int("".join(str(int(char, 36)) for char in bare[4:] + bare[:4])) % 97
        if remainder == 1 and stdnum.iban.is_valid(bare):  # the library knows the countries, and takes its time
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
