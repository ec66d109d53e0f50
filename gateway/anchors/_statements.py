"""Source code, line by line: whether a statement may have ended with a line.

No parser: strings, comments and brackets are told apart well enough for the common languages, and whatever looks odd
is no end. Languages fall into families by how they write comments and blocks.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_TOKEN = re.compile(r"\\.|\"{3}|'{3}|[\"'`]|/\*|\*/|//|--|#|[()\[\]{}]", re.DOTALL)
_PAIRS = {")": "(", "]": "[", "}": "{"}
_GOES_ON = frozenset("\\,+-*/%=&|<.?([")  # a line that ends so is not finished


class Family(NamedTuple):
    """How a group of languages writes comments, text over many lines, and blocks."""

    comments: frozenset[str]
    long_strings: frozenset[str]
    braces: bool  # whether { opens a block of statements


_HASH = Family(frozenset({"#"}), frozenset({'"""', "'''"}), braces=False)
_SLASH = Family(frozenset({"//", "/*"}), frozenset({"`", '"""'}), braces=True)
_SQL = Family(frozenset({"--", "/*"}), frozenset(), braces=False)
_SHELL = Family(frozenset({"#"}), frozenset({'"', "'"}), braces=True)
_UNKNOWN = Family(frozenset({"#", "//", "/*"}), frozenset({'"""', "'''", "`"}), braces=True)
_NAMES = {
    "python py python3 ruby rb r yaml yml toml julia elixir": _HASH,
    "javascript js jsx typescript ts tsx java c h cpp c++ cc go golang rust rs csharp cs c#": _SLASH,
    "swift kotlin kt scala php dart css scss groovy proto": _SLASH,
    "sql mysql postgresql sqlite plsql lua haskell": _SQL,
    "bash sh shell zsh console perl": _SHELL,
}
_FAMILIES = {name: kind for names, kind in _NAMES.items() for name in names.split()}


def family(language: str) -> Family:
    """The family of a language, by the name that a code block gives it."""
    return _FAMILIES.get(language.lower(), _UNKNOWN)


class Statements:
    """Follows one piece of source code."""

    def __init__(self, kind: Family) -> None:
        self._kind = kind
        self._brackets: list[str] = []
        self._open = 0  # how many of them are more than blocks
        self._inside = ""  # what ends the string or comment that is open

    def line(self, line: str) -> bool:
        """Take a whole line; whether a statement may have ended with it."""
        last = ""
        at = 0
        for token in _TOKEN.finditer(line):
            last = self._last(line[at : token.start()], last)
            at = token.end()
            if not self._inside and token[0] in self._kind.comments and token[0] != "/*":
                at = len(line)
                break
            was = self._inside
            self._token(token[0])
            if not (was and self._inside) and token[0] not in ("/*", "*/"):
                last = token[0][-1]
        last = self._last(line[at:], last)
        odd = bool(self._inside) and self._inside != "*/" and self._inside not in self._kind.long_strings
        if odd:
            self._inside = ""  # a string that should have ended with its line: perhaps no string at all
        return not odd and not self._inside and not self._open and last not in _GOES_ON

    def _last(self, code: str, before: str) -> str:
        bare = "" if self._inside else code.rstrip()
        return bare[-1] if bare else before

    def _token(self, token: str) -> None:
        if self._inside:
            self._inside = "" if token == self._inside else self._inside
        elif token in ("/*", *self._kind.comments):
            self._inside = "*/" if "/*" in self._kind.comments else ""
        elif token in ('"', "'", "`") or token in self._kind.long_strings:
            self._inside = token
        elif token in "([{":
            self._brackets.append(token)
            self._open += self._holds(token)
        elif token in _PAIRS and self._brackets and self._brackets[-1] == _PAIRS[token]:
            self._open -= self._holds(self._brackets.pop())

    def _holds(self, bracket: str) -> bool:
        """Whether a statement goes on as long as this is open: anything but a block of statements."""
        return bracket != "{" or not self._kind.braces
