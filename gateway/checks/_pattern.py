"""One regular expression, and the expression of all that could still become a match of it.

A stream shows a match before it is whole. To know what may leave, a scanner asks two questions at each step: does
the pattern match, and does the text END in something that more text could turn into a match? The second is a
regular language too, the non-empty proper prefixes of the matches, so it is written here as a pattern of its own
and answered by the same linear-time engine (RE2). Nothing is ever held longer than that pattern says.

Syntax is that of Python's `re`, less what no linear-time engine can do (look-around, back references) and what
could match without bound (`*`, `+`, `{n,}`). `\\w`, `\\d`, `\\s` know full-width forms and the living scripts, by a few
ranges (Unicode's exact classes cost thousands of states); `\\b` is RE2's ASCII word boundary, so that a Latin word is
found inside Chinese text, where no space stands around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

MAX_WIDTH = 1000  # characters a match may span: RE2's own limit for counted repeats

Node = tuple[Any, Any]
Seq = Sequence[Node]

_CATEGORY = {
    op.CATEGORY_DIGIT: r"0-9\x{ff10}-\x{ff19}",
    op.CATEGORY_SPACE: r"\s\v\x{85}\x{a0}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{3000}",
    op.CATEGORY_WORD: r"\w\x{c0}-\x{24f}\x{370}-\x{1fff}\x{3040}-\x{30ff}\x{3400}-\x{4dbf}\x{4e00}-\x{9fff}"
    r"\x{ac00}-\x{d7a3}\x{ff10}-\x{ff19}\x{ff21}-\x{ff3a}\x{ff41}-\x{ff5a}",
}
_NEGATED = {
    op.CATEGORY_NOT_DIGIT: op.CATEGORY_DIGIT,
    op.CATEGORY_NOT_SPACE: op.CATEGORY_SPACE,
    op.CATEGORY_NOT_WORD: op.CATEGORY_WORD,
}
_AT = {
    op.AT_BEGINNING: r"\A",
    op.AT_BEGINNING_STRING: r"\A",
    op.AT_END: r"\z",
    op.AT_END_STRING: r"\z",
    op.AT_BOUNDARY: r"\b",
    op.AT_NON_BOUNDARY: r"\B",
}
_REFUSED = {
    op.ASSERT: "look-ahead and look-behind need backtracking; match the surroundings themselves",
    op.ASSERT_NOT: "negative look-around needs backtracking; use two rules, or a words check",
    op.GROUPREF: "a back reference needs backtracking; spell the alternatives out",
    op.GROUPREF_EXISTS: "a conditional group needs backtracking; spell the alternatives out",
    op.ATOMIC_GROUP: "an atomic group has no meaning in a linear-time engine; use (?:...)",
    op.POSSESSIVE_REPEAT: "a possessive repeat has no meaning in a linear-time engine; drop the last +",
}


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern in RE2 syntax: `match` finds, `alive` finds a tail that may yet become a match (None: none can)."""

    source: str
    match: str
    alive: str | None


def translate(source: str, *, ignore_case: bool = True, max_width: int = MAX_WIDTH) -> Pattern:
    """Read `source` as Python `re` syntax; ValueError says what is wrong and what to write instead."""
    try:
        return _translated(source, ignore_case, max_width)
    except re.error as fault:
        hint = r"; write `\Z` for the end of the text" if "\\z" in fault.msg else ""
        raise ValueError(f"not a regular expression: {fault}{hint}") from fault
    except (RecursionError, OverflowError) as fault:
        raise ValueError(
            "not a regular expression that can be read: it is nested too deeply; use fewer groups"
        ) from fault


def _translated(source: str, ignore_case: bool, max_width: int) -> Pattern:
    tree = _parser.parse(source)
    flags = tree.state.flags
    seq = _plain(tree, flags)
    low, high = tree.getwidth()
    if low == 0:
        raise ValueError("can match the empty text, so it would match everywhere; ask for one character at least")
    if high > max_width:
        raise ValueError(f"can match {high} characters, at most {max_width} can be held back; use smaller counts")
    case = "(?i)" if ignore_case or flags & re.IGNORECASE else ""
    alive = _alive(seq)
    tail = f"{case}(?:{alive})\\z" if alive is not None else None
    return Pattern(source, case + _emit(seq), tail)


# Reading: groups dissolved, flags resolved, everything a linear engine can't do refused.


def _plain(tree: Any, flags: int) -> list[Node]:
    return [_READ.get(code, _keep)(code, value, flags) for code, value in tree]


def _keep(code: Any, value: Any, _flags: int) -> Node:
    if code in _REFUSED:
        raise ValueError(_REFUSED[code])
    return code, value


def _read_any(_code: Any, _value: Any, flags: int) -> Node:
    return op.ANY, "(?s:.)" if flags & re.DOTALL else r"[^\n]"


def _read_at(code: Any, value: Any, flags: int) -> Node:
    if flags & re.MULTILINE and value in (op.AT_BEGINNING, op.AT_END):
        return code, "(?m:^)" if value is op.AT_BEGINNING else "(?m:$)"
    return code, _AT[value]


def _read_group(_code: Any, value: Any, flags: int) -> Node:
    _, add, remove, inner = value
    inner_seq = _plain(inner, (flags | add) & ~remove)
    case = "i" if add & re.IGNORECASE else "-i" if remove & re.IGNORECASE else ""
    return op.SUBPATTERN, (case, inner_seq)


def _read_branch(_code: Any, value: Any, flags: int) -> Node:
    return op.BRANCH, [_plain(branch, flags) for branch in value[1]]


def _read_repeat(code: Any, value: Any, flags: int) -> Node:
    low, high, inner = value
    if high is op.MAXREPEAT:
        raise ValueError("`*`, `+` and `{n,}` can match without bound; say how many at most, as in `.{0,80}`")
    return op.MAX_REPEAT, (low, high, _plain(inner, flags), "?" if code is op.MIN_REPEAT else "")


_READ: dict[Any, Callable[[Any, Any, int], Node]] = {
    op.ANY: _read_any,
    op.AT: _read_at,
    op.SUBPATTERN: _read_group,
    op.BRANCH: _read_branch,
    op.MAX_REPEAT: _read_repeat,
    op.MIN_REPEAT: _read_repeat,
}


# Writing RE2.


def _char(code: int) -> str:
    text = chr(code)
    return text if text.isalnum() and text.isascii() else f"\\x{{{code:x}}}"


def _class(items: Iterable[Node]) -> str:
    body, negate = "", ""
    for code, value in items:
        if code is op.NEGATE:
            negate = "^"
        elif code is op.LITERAL:
            body += _char(value)
        elif code is op.RANGE:
            body += f"{_char(value[0])}-{_char(value[1])}"
        elif value in _CATEGORY:
            body += _CATEGORY[value]
        else:
            raise ValueError(r"\D, \S and \W can't stand inside [...] here; list the characters meant")
    return f"[{negate}{body}]"


def _one(node: Node) -> str:
    code, value = node
    if code is op.LITERAL:
        return _char(value)
    if code is op.NOT_LITERAL:
        return f"[^{_char(value)}]"
    if code is op.IN:
        return _in(value)
    if code is op.BRANCH:
        return "(?:" + "|".join(map(_emit, value)) + ")"
    if code is op.SUBPATTERN:
        return f"(?{value[0]}:{_emit(value[1])})"
    if code is op.MAX_REPEAT:
        low, high, inner, lazy = value
        return f"{_repeat(_emit(inner), low, high)}{lazy}"
    return str(value)  # ANY and AT were written when they were read


def _in(items: Seq) -> str:
    if len(items) == 1 and items[0][1] in _NEGATED:
        return f"[^{_CATEGORY[_NEGATED[items[0][1]]]}]"
    return _class(items)


def _emit(seq: Seq) -> str:
    return "".join(map(_one, seq))


def _repeat(body: str, low: int, high: int) -> str:
    if high == 0:
        return ""
    return f"(?:{body}){{{low},{high}}}"


# Prefixes. None stands for the empty language, so that no pattern of it is ever built.


def _union(parts: Iterable[str | None]) -> str | None:
    known = [part for part in parts if part is not None]
    return f"(?:{'|'.join(known)})" if known else None


def _nullable(seq: Seq) -> bool:
    return all(_nullable_one(node) for node in seq)


def _nullable_one(node: Node) -> bool:
    code, value = node
    if code is op.AT:
        return True
    if code is op.BRANCH:
        return any(map(_nullable, value))
    if code is op.SUBPATTERN:
        return _nullable(value[1])
    if code is op.MAX_REPEAT:
        return value[0] == 0 or _nullable(value[2])
    return False


def _nonempty(seq: Seq) -> str | None:
    """The matches of `seq` that are not empty."""
    if not seq:
        return None
    head, rest = seq[0], seq[1:]
    if not _nullable_one(head):
        return _one(head) + _emit(rest)
    first = _nonempty_one(head)
    return _union([first and first + _emit(rest), _nonempty(rest)])


def _nonempty_one(node: Node) -> str | None:
    code, value = node
    if code is op.BRANCH:
        return _union(map(_nonempty, value))
    if code is op.SUBPATTERN:
        inner = _nonempty(value[1])
        return inner and f"(?{value[0]}:{inner})"
    if code is op.MAX_REPEAT:
        inner = _nonempty(value[2]) if value[1] else None
        return inner and inner + _repeat(_emit(value[2]), max(value[0] - 1, 0), value[1] - 1)
    return None if code is op.AT else _one(node)


def _alive(seq: Seq) -> str | None:
    """The non-empty texts that a match of `seq` could begin with and go on, or wait for what stands behind it."""
    if not seq:
        return None
    head, rest = seq[0], seq[1:]
    later = _alive(rest)
    begun = _alive_one(head)
    if not rest:
        return begun
    if not _nullable_one(head):
        return _union([begun, _one(head) + (f"(?:{later})?" if later else "")])
    return _union([begun, _nonempty_one(head), later and _one(head) + later])


def _alive_one(node: Node) -> str | None:
    code, value = node
    if code is op.BRANCH:
        return _union(map(_alive, value))
    if code is op.SUBPATTERN:
        inner = _alive(value[1])
        return inner and f"(?{value[0]}:{inner})"
    if code is op.MAX_REPEAT:
        return _alive_repeat(value[2], value[1])
    return None


def _alive_repeat(inner: Seq, high: int) -> str | None:
    begun, whole = _alive(inner), _nonempty(inner)
    if high <= 1:
        return begun if high else None
    copies = whole and _repeat(whole, 1, high - 1)
    return _union([copies, begun and _repeat(_emit(inner), 0, high - 1) + begun])
