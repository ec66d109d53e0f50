"""Direction: the same words in another order ask something else: "from A to B", who sues whom, 比.

Only where nobody could mistake who does what, a Chinese question may name the thing first: "密码怎么重置" asks what
"怎么重置密码" asks.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from gateway.gates._operations import ACTORS, ARROWS, OPERATIONS
from gateway.gates._text import Token, Tokens

_FREE = frozenset(("how", "remedy", "may", "when", "where", "how_long", "must", "how_much"))
_ANYWHERE = frozenset(("online", "线上", "offline", "线下", "again", "immediately"))
_HOW = (Token("wh", "how"), Token("wh", "when"), Token("wh", "where"))
_TURN = Token("turn", "")  # where a question turns that names the thing first


def turning(tokens: Tokens) -> Tokens:
    """The tokens with a mark where "怎么" parts a thing from what is done to it."""
    place = next((place for place, token in enumerate(tokens) if token in _HOW), 0)
    done = next((token.value for token in tokens[place + 1 :] if token.gate != "aux"), "")
    return [*tokens[:place], _TURN, *tokens[place:]] if place and done in OPERATIONS and _nobody(tokens) else tokens


def orders(tokens: Tokens) -> AbstractSet[Tokens]:
    """The orders in which a question may name what it names; two questions of one direction have one in common."""
    dates = sum(token.gate == "date" for token in tokens)
    placed = [
        token
        for token in tokens
        if token.gate not in ("asked", "language")
        and not (token.gate == "date" and dates < 2)
        and token.value not in _ANYWHERE
    ]
    turn = placed.index(_TURN) if _TURN in placed else 0
    straight = [token for token in placed if token != _TURN]
    found = {tuple(straight), (*straight[turn:], *straight[:turn])}
    if any(token.gate in ("number", "slot") for token in placed):
        return found
    if all(token.value in _FREE for token in tokens if token.gate == "asked") and _nobody(placed):
        found |= {tuple(sorted(order, key=lambda token: token.value in OPERATIONS)) for order in found}
    return found


def _nobody(tokens: Tokens) -> bool:
    """Whether nobody is named who could be the doer, and nothing that tells a direction."""
    return not any(token.gate == "negation" or token.value in ACTORS or token.value in ARROWS for token in tokens)
