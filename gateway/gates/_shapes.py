"""Cuts a plain text into tokens, and reads what its shape alone gives away: quotes, addresses, codes, dates, numbers.

Words, and Chinese text in one piece, are left raw.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from gateway.gates._text import HAN, LATIN, RAW, Token, each

_PIECE = re.compile(
    rf"""
    (?P<quote>"[^"]{{1,200}}"|《[^》]{{1,200}}》|〈[^〉]{{1,200}}〉)
    |(?P<address>(?:https?://|www\.)[!-~]+|[a-z0-9.+_-]{{1,64}}@[a-z0-9.-]+)
    |(?P<language>(?<![{LATIN}0-9])(?:c\+\+|[cf]\#|\.net)(?![{LATIN}0-9]))
    |(?P<latin>[{LATIN}0-9]+(?:[-'.,:/_&][{LATIN}0-9]+)*)
    |(?P<han>[{HAN}]+)
    |(?P<word>\w+)
    |(?P<mark>\S)
    """,
    re.VERBOSE,
)
_OPERATOR = re.compile(r"[+*/=<>^|\\{}\[\]_&]")
_SILENT = frozenset(".,!?;:~…\"'-()·*【】〔〕·#《》〈〉")  # marks that carry no meaning in prose
_NUMBERED = re.compile(r"\b(?:no\.|nr\.|#) ?(?=\d)")
_MINUS = re.compile(r"(?:^|[\s(=*/+<>-])-$")

# The ends of names that have a dot inside and are files or hosts; any other dot parts two words.
_ENDINGS = frozenset(
    each(
        """
        pdf doc docx xls xlsx ppt pptx txt csv json xml yaml yml html htm js ts py java cpp rs go md zip rar tar gz
        exe apk dmg iso png jpg jpeg gif svg bmp mp3 mp4 avi mov wav psd ini log sql db dll sh bat com org net io ai
        cn edu gov app dev co uk de fr jp me tv info biz
        """
    )
)
_CONTRACTED = {
    "n't": ("not",),
    "'m": ("am",),
    "'re": ("are",),
    "'ve": ("have",),
    "'ll": ("will",),
    "'d": ("would",),
    "'s": ("'s",),
}
_SHORTENED = {
    "can't": "can not",
    "won't": "will not",
    "shan't": "shall not",
    "cannot": "can not",
    "cant": "can not",
    "dont": "do not",
    "doesnt": "does not",
    "didnt": "did not",
    "isnt": "is not",
    "wasnt": "was not",
    "wont": "will not",
    "couldnt": "could not",
    "havent": "have not",
    "whats": "what is",
    "wheres": "where is",
    "hows": "how is",
    "im": "i am",
    "ive": "i have",
    "let's": "let us",
    "o'clock": "oclock",
    "y'all": "you",
    "e-mail": "email",
    "e-mails": "email",
    "wi-fi": "wifi",
    "log-in": "log in",
    "on-line": "online",
    "off-line": "offline",
    "pre-order": "preorder",
}


class _Shape(NamedTuple):
    pattern: re.Pattern[str]
    read: Callable[[re.Match[str]], list[Token]]


def _number(text: str) -> Token:
    return Token(RAW, text.replace(",", ""))


def _day(match: re.Match[str]) -> list[Token]:
    return [Token("date", "-".join(str(int(part)) for part in match.groups()))]


def _hour(match: re.Match[str]) -> list[Token]:
    hour, minute, half = match.groups()
    return [Token("date", f"{int(hour)}:{minute or '00'}{(half or '').replace('.', '')}")]


def _code(match: re.Match[str]) -> list[Token]:
    return [Token("entity", match.group())]


def _year(match: re.Match[str]) -> list[Token]:
    quarter, year = match.groups()
    return [Token("date", quarter), *([Token("date", f"{int(year):04d}")] if year else [])]


# The first that fits a whole piece of Latin letters and digits says what it is.
_SHAPES = (
    _Shape(re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})"), _day),
    _Shape(re.compile(r"(\d{1,2}):(\d{2})(?::\d{2})?(am|pm|a\.m|p\.m)?"), _hour),
    _Shape(re.compile(r"(\d{1,2})()(am|pm|a\.m|p\.m)"), _hour),
    _Shape(re.compile(r"(q[1-4]|h[12]|fy)(?:[-/]?(\d{2,4}))?"), _year),
    _Shape(
        re.compile(r"(?:(?:19|20)\d|[4-9])0'?s"), lambda match: [Token("date", match.group().replace("'", "")[-3:])]
    ),
    _Shape(re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"), lambda match: [_number(match.group())]),
    _Shape(re.compile(r"(\d+)(?:st|nd|rd|th)"), lambda match: [Token("number", f"{int(match[1])}th")]),
    _Shape(re.compile(r"(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)"), lambda match: [_number(match[1]), _number(match[2])]),
    _Shape(
        re.compile(r"\d+[/:]\d+"), lambda match: [Token("number", "0.5" if match.group() == "1/2" else match.group())]
    ),
    _Shape(re.compile(r"v?\d+(?:\.\d+)+|v\d+"), lambda match: [Token("number", match.group())]),
    _Shape(
        re.compile(r"(\d+(?:,\d{3})*(?:\.\d+)?)-?([a-zµμ]{1,5})(?:/([a-z]{1,3}))?"),
        lambda match: [_number(match[1]), Token("suffix", match[2] + (f"/{match[3]}" if match[3] else ""))],
    ),
    _Shape(re.compile(r"([a-z]{3,})-?(\d+)"), lambda match: [Token(RAW, match[1]), _number(match[2])]),
    _Shape(re.compile(r"(?=[^0-9]*[0-9])[^']+"), _code),
    _Shape(re.compile(r"(?:[a-z]\.)+[a-z]"), lambda match: [Token(RAW, match.group().replace(".", ""))]),
)


def pieces(text: str) -> list[Token]:
    """The tokens of a plain text, in its order."""
    found: list[Token] = []
    text = _NUMBERED.sub("number ", text)
    formal = _OPERATOR.search(text) is not None
    for match in _PIECE.finditer(text):
        piece, kind = match.group(), match.lastgroup
        if kind == "quote":
            found.append(Token("entity", f"“{piece[1:-1].strip()}”"))
        elif kind in ("address", "language"):
            found.append(Token("entity", piece.rstrip(".,!?;:)")))
        elif kind == "latin":
            found += _latin(piece, _minus(text, match.start()))
        elif kind != "mark" or piece not in _SILENT or (formal and piece in "()*-"):
            found.append(Token(RAW, piece))
    return found


def _minus(text: str, start: int) -> bool:
    return start > 0 and _MINUS.search(text[max(0, start - 2) : start]) is not None


def _latin(piece: str, minus: bool) -> Iterator[Token]:
    for shape in _SHAPES:
        if match := shape.pattern.fullmatch(piece):
            read = shape.read(match)
            if minus and read[0].value[:1].isdigit():
                read[0] = Token(read[0].gate, "-" + read[0].value)
            yield from read
            return
    if "." in piece and piece.rpartition(".")[2] in _ENDINGS:
        yield Token("entity", piece)
        return
    for part in re.split(r"[.,:_&]", piece):
        yield from _words(part)


def _words(piece: str) -> Iterator[Token]:
    if piece in _SHORTENED:
        yield from (Token(RAW, word) for word in _SHORTENED[piece].split())
        return
    for part in re.split(r"[-/]", piece):
        if any(char.isdigit() for char in part) and part != piece:
            yield from _latin(part, False)
            continue
        for ending, words in _CONTRACTED.items():
            if part.endswith(ending) and part != ending:
                yield Token(RAW, part.removesuffix(ending))
                yield from (Token(RAW, word) for word in words)
                break
        else:
            yield Token(RAW, part.replace("'", ""))
