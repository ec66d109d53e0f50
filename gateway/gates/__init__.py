"""Gates: may what is stored for one question be served for another one that is like it?

A similarity search finds what sounds alike, and "turn on" sounds like "turn off". Here both questions are read word by
word into tokens, and each token has a gate that answers for it. What a gate has read must be equal in both: one
difference, and nothing is served. A refusal costs an answer written anew, a false pass serves a wrong one: so what
nobody understands must be equal too. Because equality decides, the order of the two questions never matters.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from gateway.gates import _asked, _date, _entity, _frames, _lexicon, _negation, _number, _shapes, _unit, _words
from gateway.gates._direction import orders, turning
from gateway.gates._text import RAW, Token, Tokens, language, plain

LONGEST = 2000  # characters of a question that is read; of a longer one only an equal one is the same


class Gate(NamedTuple):
    """Whether two questions ask the same; if not, which gate found the difference."""

    same: bool
    differs: str = ""


# Each step reads what it knows and leaves the rest raw for those behind it.
_STEPS: Sequence[Callable[[Tokens], Tokens]] = (
    _words.worded,
    _frames.stripped,
    _lexicon.understood,
    _date.read,
    _number.read,
    _unit.read,
    _negation.fronted,
    turning,
    _asked.settled,
    _entity.joined,
)
_UNREAD = frozenset((RAW, "suffix", "month", "half"))  # what no step could make anything of
# In this order they are asked; the first that finds a difference names it.
_GATES = ("language", "number", "date", "unit", "negation", "polarity", "comparative", "entity", "asked", "content")


def same_question(a: str, b: str) -> Gate:
    """Whether an answer to `a` answers `b`; said only if nothing was found that could make a difference."""
    one, other = plain(a), plain(b)
    if one == other:
        return Gate(True)
    if max(len(one), len(other)) > LONGEST:
        return Gate(False, "length")
    read, other_read = tokens(one), tokens(other)
    for gate in _GATES:
        left, right = _of(gate, read), _of(gate, other_read)
        if left != right:
            return Gate(False, _name(gate, (a, b), (left - right) + (right - left)))
    if not orders(read) & orders(other_read):
        return Gate(False, "direction")
    return Gate(True)


@functools.lru_cache(maxsize=1024)
def tokens(text: str) -> Tokens:
    """What a plain text asks, token by token."""
    found: Tokens = [*_shapes.pieces(_frames.begun(text)), Token("language", language(text))]
    for step in _STEPS:
        found = step(found)
    read = [Token("content", token.value) if token.gate in _UNREAD else token for token in found]
    if all(token.gate in ("asked", "negation", "language", "voice") for token in read):
        read.append(Token("content", text))  # nothing is left that two questions could have in common
    return read


def _of(gate: str, read: Tokens) -> Counter[str]:
    return Counter(token.value for token in read if token.gate == gate)


def _name(gate: str, texts: tuple[str, str], differing: Counter[str]) -> str:
    """A word that nobody knows is the name of something if it is written like one."""
    if gate == "content" and any(_entity.named(text, differing) for text in texts):
        return "entity"
    return gate
