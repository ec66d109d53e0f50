"""The slot: where a question leaves open what it asks for. "哪些人能借书" and "人能借哪些书" differ in nothing else.

Where the slot says nothing it goes: at the start of an English question, at the end of a Chinese one.
"""

from __future__ import annotations

from gateway.gates._text import Token, Tokens

_OPEN = frozenset(("what", "who", "whose", "how_much", "how_many"))
_ASKING = frozenset(("wh", "copula", "aux", "tense"))
_SLOT = Token("slot", "")
_THINGS = frozenset(("", "content", "polarity", "entity"))


def slotted(tokens: Tokens, chinese: bool) -> Tokens:
    """The tokens without those that ask, and with slots for what is asked for."""
    found: list[Token] = []
    copula = False
    for token in tokens:
        copula |= token.gate == "copula"
        if token.gate not in _ASKING:
            found.append(token)
        elif token.gate == "wh" and token.value in _OPEN and found[-1:] != [_SLOT] and (found or chinese):
            found.append(_SLOT)
    if chinese and not copula:
        return _trailing(found)
    return found


def _trailing(tokens: list[Token]) -> Tokens:
    """A Chinese slot before the last thing is one behind it: "有多少热量" asks what "热量是多少" asks."""
    if len(tokens) > 2 and tokens[-2] == _SLOT and tokens[-1].gate in _THINGS:
        return [*tokens[:-2], tokens[-1]]
    return tokens[:-1] if tokens[-1:] == [_SLOT] else tokens
