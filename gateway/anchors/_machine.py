"""JSON as it comes in: where it may be cut, and the shortest text that would complete it. One step a character.

Strict, as RFC 8259 has it: no comments, no trailing commas, no bare line breaks inside strings.
"""

from __future__ import annotations

import re
from enum import Enum, auto

from gateway.anchors._edges import joined, word_ends

_BLANKS = re.compile(r"[ \t\r\n]*")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]+')
_LITERALS = {"t": "rue", "f": "alse", "n": "ull"}
_SIMPLE_ESCAPES = frozenset('"\\/bfnrt')
_BREAKS = frozenset("nrt")  # escapes that a reader sees as blanks
_HEX = frozenset("0123456789abcdefABCDEF")
_OTHER_HALF = "\\udc00"
# Numbers: what has been read so far, and where each kind of character leads. 9 stands for 1-9, e for e and E, + for a
# sign.
_NUMBER = {
    "-": {"0": "0", "9": "d"},
    "0": {".": ".", "e": "e"},
    "d": {"0": "d", "9": "d", ".": ".", "e": "e"},
    ".": {"0": "f", "9": "f"},
    "f": {"0": "f", "9": "f", "e": "e"},
    "e": {"+": "s", "0": "x", "9": "x"},
    "s": {"0": "x", "9": "x"},
    "x": {"0": "x", "9": "x"},
}
_WHOLE = frozenset("0dfx")
_CLASS = {**dict.fromkeys("123456789", "9"), "0": "0", ".": ".", "e": "e", "E": "e", "+": "+", "-": "+"}


class Mode(Enum):
    """What may come next."""

    VALUE = auto()
    FIRST = auto()  # of an array: a value, or its end
    OPEN = auto()  # an object: a key, or its end
    KEY = auto()
    COLON = auto()
    AFTER = auto()  # a value: a comma, or the end of what it is in
    STRING = auto()
    NUMBER = auto()
    LITERAL = auto()
    END = auto()
    BROKEN = auto()


_MISSING = {Mode.VALUE: "0", Mode.KEY: '"":0', Mode.COLON: ":0"}


class Machine:
    """Reads one JSON value. `marks` are the positions to cut at: behind values and opened brackets, in `words` also
    behind words in strings that are values. `told` says that a value or a colon has come: this is no mere bracket.
    """

    def __init__(self, base: int = 0, *, words: bool = False) -> None:
        self.marks: list[int] = []
        self.told = False
        self.mode = Mode.VALUE
        self._base = base
        self._words = words
        self._closers: list[str] = []
        self._is_key = False
        self._escape = ""  # what has come of one
        self._half = False  # the last escape was the first of a pair
        self._before = ""  # the last plain character of a string, for what joins it
        self._rest = ""  # what a literal lacks
        self._number = ""

    @property
    def done(self) -> bool:
        return self.mode in (Mode.END, Mode.BROKEN)

    def feed(self, text: str, at: int = 0) -> int:
        """Read on from `at`; where it stopped: at the end of the text, behind the value, or before what is no JSON."""
        begin = at
        self._base -= begin
        while at < len(text) and not self.done:
            at = self._step(text, at)
        self._base += at
        return at

    def closing(self) -> str:
        """The shortest text that makes a whole value of what has come. ValueError if nothing can."""
        if self.mode is Mode.BROKEN:
            raise ValueError("this is no beginning of a JSON value")
        open_part = _MISSING.get(self.mode, "")
        if self.mode is Mode.STRING:
            open_part = self._rest_of_escape() + '"' + (":0" if self._is_key else "")
        elif self.mode is Mode.NUMBER:
            open_part = "" if self._number in _WHOLE else "0"
        elif self.mode is Mode.LITERAL:
            open_part = self._rest
        return open_part + "".join(reversed(self._closers))

    def _step(self, text: str, at: int) -> int:
        if self.mode is Mode.STRING:
            return self._in_escape(text, at) if self._escape else self._in_string(text, at)
        if self.mode is Mode.NUMBER:
            return self._in_number(text, at)
        if self.mode is Mode.LITERAL:
            return self._in_literal(text, at)
        blanks = _BLANKS.match(text, at)
        at = blanks.end() if blanks else at
        return at if at == len(text) else self._between(text[at], at)

    def _between(self, char: str, at: int) -> int:
        mode = self.mode
        if self._closers and char == self._closers[-1] and mode in (Mode.FIRST, Mode.OPEN, Mode.AFTER):
            self._closers.pop()
            return self._value_ends(at + 1)
        if mode in (Mode.VALUE, Mode.FIRST):
            return self._begin(char, at)
        if mode in (Mode.OPEN, Mode.KEY) and char == '"':
            return self._open_string(at, is_key=True)
        if mode is Mode.COLON and char == ":":
            self.told = True
            return self._turn(Mode.VALUE, at + 1)
        if mode is Mode.AFTER and char == ",":
            return self._turn(Mode.KEY if self._closers[-1] == "}" else Mode.VALUE, at + 1)
        return self._turn(Mode.BROKEN, at)

    def _begin(self, char: str, at: int) -> int:
        """The first character of a value."""
        if char in "{[":
            self._closers.append("}" if char == "{" else "]")
            self.marks.append(self._base + at + 1)
            return self._turn(Mode.OPEN if char == "{" else Mode.FIRST, at + 1)
        if char == '"':
            return self._open_string(at, is_key=False)
        if char in _LITERALS:
            self._rest = _LITERALS[char]
            return self._turn(Mode.LITERAL, at + 1)
        if char in "-0123456789":
            self._number = {"-": "-", "0": "0"}.get(char, "d")
            return self._turn(Mode.NUMBER, at + 1)
        return self._turn(Mode.BROKEN, at)

    def _open_string(self, at: int, *, is_key: bool) -> int:
        self._is_key, self._half, self._before = is_key, False, ""
        return self._turn(Mode.STRING, at + 1)

    def _in_string(self, text: str, at: int) -> int:
        plain = _PLAIN.match(text, at)
        if plain:
            self._half = False
            if self._words and not self._is_key:
                self._mark_words(plain[0], at)
            self._before = text[plain.end() - 1]
            return plain.end()
        if text[at] == "\\":
            self._escape = "\\"
            return at + 1
        if text[at] != '"':
            return self._turn(Mode.BROKEN, at)
        return self._turn(Mode.COLON, at + 1) if self._is_key else self._value_ends(at + 1)

    def _mark_words(self, plain: str, at: int) -> None:
        known = self._before + plain
        base = self._base + at - len(self._before)
        ends = word_ends(known, 1, len(known) - 1)
        self.marks += [base + end for end in ends if not joined(known, end)]

    def _in_escape(self, text: str, at: int) -> int:
        char = text[at]
        self._escape += char
        if len(self._escape) == 2 and char != "u":
            if char not in _SIMPLE_ESCAPES:
                return self._turn(Mode.BROKEN, at)
            self._escape, self._half, self._before = "", False, "\n" if char in _BREAKS else ""
            if char in _BREAKS and self._words and not self._is_key:
                self.marks.append(self._base + at + 1)
        elif len(self._escape) > 2 and char not in _HEX:
            return self._turn(Mode.BROKEN, at)
        elif len(self._escape) == 6:
            self._half = self._escape[2:4].lower() in ("d8", "d9", "da", "db")
            self._escape = self._before = ""
        return at + 1

    def _rest_of_escape(self) -> str:
        """Ends a half escape, and a pair of which only the first has come."""
        if self._half and _OTHER_HALF.startswith(self._escape.lower()):
            return _OTHER_HALF[len(self._escape) :]
        if self._escape == "\\":
            return "\\"
        whole = self._escape + "0" * (6 - len(self._escape)) if self._escape else ""
        return whole[len(self._escape) :] + (_OTHER_HALF if whole[2:4].lower() in ("d8", "d9", "da", "db") else "")

    def _in_number(self, text: str, at: int) -> int:
        leads = _NUMBER[self._number].get(_CLASS.get(text[at], ""))
        if leads:
            self._number = leads
            return at + 1
        return self._value_ends(at) if self._number in _WHOLE else self._turn(Mode.BROKEN, at)

    def _in_literal(self, text: str, at: int) -> int:
        if text[at] != self._rest[0]:
            return self._turn(Mode.BROKEN, at)
        self._rest = self._rest[1:]
        return at + 1 if self._rest else self._value_ends(at + 1)

    def _value_ends(self, at: int) -> int:
        self.told = True
        self.marks.append(self._base + at)
        return self._turn(Mode.AFTER if self._closers else Mode.END, at)

    def _turn(self, mode: Mode, at: int) -> int:
        self.mode = mode
        return at


def closing(prefix: str) -> str:
    """The shortest text that makes a whole JSON value of `prefix`. ValueError if nothing can."""
    machine = Machine()
    if prefix[machine.feed(prefix) :].strip(" \t\r\n"):
        raise ValueError("this is no beginning of a JSON value")
    return machine.closing()
