"""Numbers: digits, Chinese numerals and English number words are one value, in the order in which they stand."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal

from gateway.gates._text import RAW, Token, Tokens, each

_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "亿": 10**8}
_LARGE = ("亿", "万")
NUMERALS = "零一二两三四五六七八九十百千万亿"
# What a Chinese text may not be cut inside of.
_RUN = f"[{NUMERALS}]+(?:点[零一二三四五六七八九]+)?"
NUMERAL = re.compile(f"(?:百分之|千分之)(?:{_RUN})?|第[{NUMERALS}]*|{_RUN}|半")

_ONES = each(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_TENS = each("twenty thirty forty fifty sixty seventy eighty ninety")
_FIRSTS = each(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
)
_SMALL: Mapping[str, int] = {
    **{word: value for value, word in enumerate(_ONES)},
    **{word: 10 * value for value, word in enumerate(_TENS, 2)},
}
_ORDINALS: Mapping[str, int] = {
    **{word: value for value, word in enumerate(_FIRSTS, 1)},
    "thirtieth": 30,
    "fortieth": 40,
    "fiftieth": 50,
    "hundredth": 100,
}
_TIMES = {
    "hundred": 100,
    "thousand": 1000,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "dozen": 12,
    "k": 1000,
    "bn": 10**9,
}
_PARTS = {"half": "0.5", "半": "0.5", "一半": "0.5", "quarter": "0.25"}
_FIGURES = re.compile(r"-?\d{1,24}(?:\.\d{1,24})?")  # what is longer is no amount, and is compared as it is written
_MOST = Decimal(10) ** 20
_WORDS = frozenset(("万一",))  # they look like numerals
_LONGEST = 24  # Chinese numerals in one number
_TIME = frozenset(("second", "quarter"))


def read(tokens: Tokens) -> Tokens:
    """The tokens with every number read."""
    found: list[Token] = []
    place = 0
    while place < len(tokens):
        token, place = _next(tokens, place)
        found.append(token)
    return found


def _next(tokens: Tokens, place: int) -> tuple[Token, int]:
    token = tokens[place]
    behind = tokens[place + 1].value if place + 1 < len(tokens) else ""
    counted = place > 0 and (_FIGURES.fullmatch(tokens[place - 1].value) or tokens[place - 1].value in _SMALL)
    word = token.value
    if token.gate not in (RAW, "number"):
        return token, place + 1
    if word in ("第", "百分之", "千分之") and _FIGURES.fullmatch(behind):
        return _marked(word, _plain(Decimal(behind))), place + 2
    if word.startswith(("第", "百分之", "千分之")) and len(word) > 1:
        mark = "第" if word[0] == "第" else word[:3]
        amount = chinese(word.removeprefix(mark))
        return (_marked(mark, _plain(amount)), place + 1) if amount is not None else (token, place + 1)
    if word in _PARTS and not (word in _TIME and behind not in ("of", "tablet", "pill", "cup")):
        return Token("number", _PARTS[word]), place + 1
    if word in _ORDINALS and not (word in _TIME and counted):
        return Token("number", f"{_ORDINALS[word]}th"), place + 1
    amount, end = _amount(tokens, place)
    if amount is None:
        return token, place + 1
    return _ended(amount, tokens, end)


def _marked(mark: str, value: str) -> Token:
    return Token("number", f"{value}th" if mark == "第" else f"{value}%" if mark == "百分之" else f"{value}‰")


def _ended(amount: Decimal, tokens: Tokens, end: int) -> tuple[Token, int]:
    """A number with the sign or word of percent behind it, or with an ordinal that ends it ("twenty-first")."""
    behind = tokens[end].value if end < len(tokens) else ""
    if behind in ("%", "percent", "‰"):
        return Token("number", _plain(amount) + ("‰" if behind == "‰" else "%")), end + 1
    if behind == "per" and end + 1 < len(tokens) and tokens[end + 1].value == "cent":
        return Token("number", _plain(amount) + "%"), end + 2
    if (
        behind in _ORDINALS
        and tokens[end - 1].value in _SMALL
        and amount >= 20
        and amount % 10 == 0
        and _ORDINALS[behind] < 10
    ):
        return Token("number", f"{_plain(amount + _ORDINALS[behind])}th"), end + 1
    return Token("number", _plain(amount)), end


def _amount(tokens: Tokens, place: int) -> tuple[Decimal | None, int]:
    """The number that begins here, and where it ends."""
    start, total = place, Decimal(0)
    part = None if tokens[place].gate else _first(tokens[place].value)
    if part is None:
        return None, start
    place += 1
    while place < len(tokens) and tokens[place].gate in (RAW, "suffix") and abs(part) < _MOST:
        word = tokens[place].value
        if word in _SMALL and _takes(part, _SMALL[word]):
            part += _SMALL[word]
        elif word in ("hundred", "dozen"):
            part *= _TIMES[word]
        elif word in _TIMES:
            total, part = total + part * _TIMES[word], Decimal(0)
        elif word and all(char in _SCALES for char in word) and len(word) < 4:
            part *= math.prod(_SCALES[char] for char in word)
        else:
            break
        place += 1
    return total + part, place


def _takes(part: Decimal, unit: int) -> bool:
    """Whether a number word goes on: "hundred five", "twenty five", but not "two five"."""
    return part % 100 == 0 or (unit < 10 and part in range(20, 100, 10))


def _first(word: str) -> Decimal | None:
    """What a number can begin with: digits, a number word, Chinese numerals."""
    if _FIGURES.fullmatch(word):
        return Decimal(word)
    if word in _SMALL:
        return Decimal(_SMALL[word])
    return Decimal(12) if word == "dozen" else chinese(word)


def chinese(text: str) -> Decimal | None:
    """The value of Chinese numerals; None if they are none. "一千五" is 1500, "二零二三" is 2023."""
    whole, _, rest = text.partition("点")
    if text in _WORDS or not whole or len(text) > _LONGEST or set(whole) - set(NUMERALS) or set(rest) - set(_DIGITS):
        return None
    if not any(char in _SCALES for char in whole):
        value = "".join(str(_DIGITS[char]) for char in whole)
    else:
        value = str(_scaled(whole))
    return Decimal(value + ("." + "".join(str(_DIGITS[char]) for char in rest) if rest else ""))


def _scaled(text: str) -> int:
    for scale in _LARGE:
        if scale in text:
            above, _, below = text.rpartition(scale)
            left = _scaled(above) if above else 1
            if len(below) == 1 and below in _DIGITS:
                return left * _SCALES[scale] + _DIGITS[below] * _SCALES[scale] // 10
            return left * _SCALES[scale] + (_scaled(below) if below else 0)
    total, digit, last = 0, 0, 10
    for char in text:
        if char in _SCALES:
            last = _SCALES[char]
            total, digit = total + (digit or 1) * last, 0
        else:
            digit = digit * 10 + _DIGITS[char]
            last = 10 if char == "零" else last
    return total + (digit * last // 10 if digit and last > 10 and text[-2:-1] in _SCALES else digit)


def _plain(amount: Decimal) -> str:
    text = f"{amount:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
