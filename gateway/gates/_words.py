"""Raw tokens as words: Chinese text is cut, English words lose their endings and articles.

Some short English words are two: "will" behind an article is a testament, "may" beside a number a month.
"""

from __future__ import annotations

from collections.abc import Sequence

from gateway.gates._lemma import PAST, lemma
from gateway.gates._lexicon import cut
from gateway.gates._text import RAW, Token, Tokens, each

_WITH_IS = frozenset(each("what who where when how why it that there here which he she"))
_OWNERS = frozenset(each("a the my your his her our their this that"))
_NOUNS = frozenset(each("will can may might must do"))
_IN = frozenset(each("in of since until by last next this every early late mid"))
# Behind these a letter is a name: vitamin A, World War I.
_LETTERED = frozenset(each("vitamin hepatitis influenza grade series appendix annex war type class section column"))
# Before these an "a" is no article but the name itself: "plan A or plan B".
_NO_NOUN = frozenset(each("and or is vs versus to for in of with the at on from than plus are has have does if when"))
_MONTHS = frozenset(each("may march jan feb mar apr jun jul aug sep sept oct nov dec"))
_OFFICES = frozenset(
    each("support department team manager job security company staff specialist infrastructure project course degree")
)
_PASSIVE = frozenset(each("is are am was were be been being get got"))
_NO_PASSIVE = frozenset(word + PAST for word in each("need require consider allow suppose"))
_HAVE = frozenset(each("have has had having 've"))
_HELPING = _HAVE | frozenset(each("get gets getting got"))
_WITH_AM = frozenset(each("i how why when where what who so"))
_FAR = 4  # words behind "have" among which is what has been done
_NEAR = 5  # words between "is" and what is done


def worded(tokens: Tokens) -> Tokens:
    """The tokens with each raw one a word that tables can be asked for."""
    found: list[Token] = []
    for place, token in enumerate(tokens):
        if token.gate != RAW:
            found.append(token)
        elif "\u3400" <= token.value[:1] <= "\u9fff":
            found += [Token(RAW, part) for part in cut(token.value)]
        else:
            ahead = [lemma(_value(tokens, place + step)) for step in range(1, _FAR)]
            found += _english(token.value, _value(tokens, place - 1), ahead)
    return [*found, *_voice([lemma(token.value) for token in tokens]), *_definite(tokens)]


def _value(tokens: Tokens, place: int) -> str:
    return tokens[place].value if 0 <= place < len(tokens) else ""


def _english(word: str, before: str, ahead: Sequence[str]) -> Tokens:
    behind = ahead[0]
    if word in _HELPING:
        return _helping(word, ahead)
    if word in ("am", "pm") and before[:1].isdigit():
        return (Token("half", word),)
    if _is_name(word, before, behind):
        return (Token("content", word),)
    numbered = before.isdigit() or behind.removesuffix("th").isdigit()
    if word in _MONTHS and (numbered or (word in ("may", "march") and before in _IN)):
        return (Token("month", word),)
    if word in ("the", "an") or (word == "a" and _opens(behind) and before not in _LETTERED):
        return ()
    return (Token(RAW, "is" if word == "'s" and before in _WITH_IS else lemma(word)),)


def _is_name(word: str, before: str, behind: str) -> bool:
    """Whether a word that mostly says nothing means a thing here: a will, World War I, the IT department, AM radio."""
    if word == "am":
        return before not in _WITH_AM and behind != "i"
    return (
        (word in _NOUNS and before in _OWNERS)
        or (word == "i" and before in _LETTERED)
        or (word == "it" and behind in _OFFICES)
    )


def _helping(word: str, ahead: Sequence[str]) -> Tokens:
    """Beside what has been done, "have" and "get" say no more than "is"; alone they say what one has or gets."""
    if any(other.endswith(PAST) or other == "been" for other in ahead):
        return (Token(RAW, "had"),) if word == "had" else ()
    return (Token(RAW, "have" if word in _HAVE else "get"),)


def _opens(word: str) -> bool:
    """Whether an "a" before this word is an article."""
    return word.isascii() and word.isalpha() and len(word) > 1 and word not in _NO_NOUN


def _voice(words: Sequence[str]) -> Tokens:
    """A note if something is done to what stands first: "was paid" is not "paid"."""
    last = -_NEAR - 1
    for place, word in enumerate(words):
        if word in _PASSIVE:
            last = place
        elif word.endswith(PAST) and word not in _NO_PASSIVE and place - last <= _NEAR:
            return (Token("voice", "passive"),)
    return ()


def _definite(tokens: Tokens) -> Tokens:
    """A note if a known thing is asked for: "what is the fee" wants a sum, "what is a fee" an explanation."""
    opening = [token.value for token in tokens[:4]]
    known = opening[1:3] in (["is", "the"], ["'s", "the"], ["are", "the"])
    return (Token("mood", "the"),) if known and opening[3:] not in (["meaning"], ["definition"]) else ()
