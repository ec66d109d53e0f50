"""What is asked: how, why, when, whether. One thing has many answers, and each answers one question.

Whole phrases are read first ("what is best way to" is how), then what is left is settled: an auxiliary says nothing
beside "where", and all by itself in "can I"; a bare request ("cancel my order") asks how it is done.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from gateway.gates import _comparative, _phrases, _polarity, _synonyms
from gateway.gates._rows import Table, key, rows, table, words
from gateway.gates._slots import slotted
from gateway.gates._text import NOTES, Token, Tokens, each

PAST = Token("tense", "past")
_WHAT = Token("wh", "what")
_PRICES = (_WHAT, Token("wh", "how_much"))
_WISH, _IS = Token("aux", "wish"), Token("aux", "is")

_KNOWN: Table = {**_synonyms.TABLE, **_polarity.TABLE, **_comparative.TABLE}
_ASPECTS: Table = {aspect: _KNOWN.get(aspect, (Token("content", aspect),)) for aspect in each(_phrases.ASPECTS)}

TABLE: Table = {
    **table("wh", _phrases.WH),
    **{word: (Token("copula", side[0]),) for (side,) in rows(_phrases.COPULAS) for word in side[1:]},
    **table("aux", _phrases.WHETHER),
    **{opening: (_WHAT, Token("content", "有")) for opening in words(_phrases.LISTED)},
    **{
        phrase: (*read, _WHAT)
        for aspect, read in _ASPECTS.items()
        for listed in words(_phrases.LISTED)
        for phrase in (listed + aspect, aspect + listed)
    },
    **dict.fromkeys(words(_phrases.THERE), (Token("aux", "is"), Token("content", "there"))),
    **dict.fromkeys(words(_phrases.DOING), (Token("content", "做"), _WHAT)),
    **{f"what is {place}": (_WHAT, Token("content", "at")) for place in ("in", "on", "at")},
    **dict.fromkeys(words(_phrases.HAVING), (Token("aux", "may"), Token("content", "get"))),
    **dict.fromkeys(words(_phrases.WISHES_ZH), (_WISH,)),
    "was": (Token("aux", "is"), PAST),
    "were": (Token("aux", "is"), PAST),
    "did": (Token("aux", "is"), PAST),
    "had": (PAST,),
    key("used to"): (PAST,),
}

_ALL = frozenset(("may", "must", "should", "will"))
# Auxiliaries that say nothing beside a question word: "where can I find" asks what "where do I find" asks.
_QUIET = {
    **dict.fromkeys(("how", "how_much", "how_long", "how_is", "remedy"), _ALL),
    **dict.fromkeys(("when", "where", "how_often", "how_far", "why"), frozenset(("may", "will"))),
}
_TIMELESS = frozenset(("why", "how", "remedy"))  # how it is done is how it was done
_PRICED = frozenset("费价税率额息金薪资")  # of what ends so, "how many" asks how much
# Of these my answer is not yours.
_PERSONAL = frozenset(("what", "who", "how_much", "how_many", "whether", "must", "should", "will"))


def settled(tokens: Tokens) -> Tokens:
    """The tokens with all that asks as tokens of the gate, at the end; a slot stays where something is asked for."""
    notes = {token.value for token in tokens if token.gate == "mood"}
    body = _amounts([token for token in tokens if token.gate not in NOTES])
    asked = {token.value for token in body if token.gate in ("wh", "copula")}
    modes = {token.value for token in body if token.gate == "aux"}
    if body[:1] != [_IS]:
        modes -= {"is"}  # only at the start "is" asks something
    if asked == {"how"} and any(_cannot(body, place) for place in range(len(body))):
        asked = {"why"}
    kept = (modes & _ALL) - _quiet(asked, any(token.gate == "negation" for token in body))
    if "wish" in modes and "whether" in modes:
        kept |= {"must"}  # "我要缴税吗"
    kept |= {f"{mode} not" for mode in kept if _before_not(body, mode)}
    if not asked and not kept:
        asked = _unasked(modes, notes)
    rest = _owned(slotted(body, _chinese(tokens)), bool((asked | kept) & _PERSONAL))
    if asked == {"what"} and len(rest) == 1 and "the" in notes:
        asked = {"the"}
    timed = [Token("date", "past")] if PAST in body and not asked & _TIMELESS and not kept else []
    kept_notes = [token for token in tokens if token.gate in ("voice", "language")]
    return [*rest, *kept_notes, *(Token("asked", word) for word in sorted(asked | kept)), *timed]


def _before_not(tokens: Tokens, mode: str) -> bool:
    """Whether one may leave undone, rather than may not do."""
    signs = [token.value for token in tokens if token.gate in ("aux", "negation")]
    return "not" in signs and signs.index(mode) < signs.index("not") if mode in signs else False


def _chinese(tokens: Tokens) -> bool:
    return any(token.gate == "language" and "zh" in token.value for token in tokens)


def _quiet(asked: AbstractSet[str], denied: bool) -> AbstractSet[str]:
    """The auxiliaries that say nothing beside what is asked. "Why can't I pay" is not "why don't I pay"."""
    quiet = frozenset[str]().union(*(_QUIET.get(word, frozenset()) for word in asked))
    return quiet - {"may"} if denied and "why" in asked else quiet


def _unasked(modes: AbstractSet[str], moods: AbstractSet[str]) -> set[str]:
    """What is asked where no word asks: whether something is so, how something is done, or what a thing is."""
    if modes - {"wish"}:
        return {"whether"}
    return {"how"} if "wish" in modes or "do" in moods else {"what"}


def _owned(tokens: Tokens, personal: bool) -> Tokens:
    """The tokens without whose it is, where that says nothing, and with whom it is done to."""
    found: list[Token] = []
    for token in tokens:
        if token == Token("self", "my"):
            found += [Token("content", "my")] * personal
        elif token.gate != "self":
            found.append(token)
        elif found and found[-1].gate != "date":
            found.append(Token("content", "me"))
    return found


def _cannot(tokens: Tokens, place: int) -> bool:
    """Whether somebody wonders "怎么登录不了": that asks why."""
    pair = tokens[place : place + 2]
    return len(pair) == 2 and pair[0].gate == "negation" and pair[1] == Token("aux", "may")


def _amounts(tokens: list[Token]) -> Tokens:
    """The tokens with one way to ask what a thing costs, or is like, or means."""
    found = [_amount(tokens, place) for place in range(len(tokens))]
    asked = {token.value for token in found if token.gate == "wh"}
    last = found[-1].value if found else ""
    if asked & {"what", "how_much"} and last in ("cost", "price"):
        return [Token("wh", "how_much"), *(token for token in found[:-1] if token not in _PRICES)]
    dropped = (asked == {"what"} and last == "mean") or ("how_many" in asked and last == "have")
    return found[:-1] if dropped else found


def _amount(tokens: list[Token], place: int) -> Token:
    token = tokens[place]
    if token == Token("wh", "how_many") and place and tokens[place - 1].value[-1:] in _PRICED:
        return Token("wh", "how_much")
    if token == Token("wh", "how") and 0 < place == len(tokens) - 1:
        return Token("wh", "how_is")  # "天气如何"
    return token
