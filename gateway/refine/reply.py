"""A reply of the second reading, understood: JSON, or lines marked as the instruction says. It is a model's word, so
nothing of it is believed that has no evidence or that can't be found in the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import orjson

from gateway.refine.caution import Language
from gateway.refine.wording import EVIDENCE, FIGURE, LONGEST, facts
from gateway.types import Correction

# Why a proposed correction is not made. Stable words, for metrics.
Fate = Literal[
    "no_evidence", "malformed", "too_many", "same", "no_answer", "not_found", "ambiguous", "cut_off", "backed"
]

MOST_READ = 1 << 16  # characters of a reply

_FINE = re.compile(r"【无(?:需修正】|$)|\[n(?:o corrections?\]|$)", re.IGNORECASE)  # or what STOPS leave of it
_MARK = re.compile(r"【修正】|\[corrected\]|\[correction\]", re.IGNORECASE)
_ARROW = re.compile(r"\s*(?:->|=>|→|⇒|改为|应为|should (?:be|read))\s*")
_EVIDENCE = re.compile(r"[（(，,；;]?\s*(?:依据|来源|evidence|source)\s*[:：]\s*", re.IGNORECASE)
_EDGES = " \t\r\n\"'“”‘’「」『』`*-"
# What a model says that will not, or can't, or repeats what it was told to do.
_NO_ANSWER = re.compile(
    r"【|\[no correction|\[correct|\"corrections\"|as an ai|i can(?:'|no)t |i am unable"
    r"|作为(?:一个)?(?:AI|人工智能|语言模型)|我无法|抱歉",
    re.IGNORECASE,
)


_LIST = re.compile(r'\{\s*"corrections"\s*:\s*\[')
_ITEM = re.compile(r"\{[^{}]*\}")


class Reply(NamedTuple):
    """What a reply proposes. Not `readable`: it is in no form that was asked for, so it says nothing at all."""

    corrections: tuple[Correction, ...] = ()
    dropped: tuple[Fate, ...] = ()
    readable: bool = True


def read(text: str, most: int, bounded: Language | None = None) -> Reply:
    """The corrections of a reply, at most so many. `bounded`: its words could be no longer than in this language."""
    text = text[:MOST_READ]
    listed = _json(text)
    if listed is not None:
        return _sifted([_from_json(one, bounded) for one in listed], most)
    begun = _begun(text)
    if begun:
        reply = _sifted([_from_json(one, bounded) for one in begun], most)
        return reply._replace(dropped=(*reply.dropped, "cut_off"))
    marked = list(_marked(text))
    return _sifted(marked, most) if marked else Reply(readable=_FINE.search(text.rstrip()) is not None)


def _json(text: str) -> list[Any] | None:
    """The list of corrections in a JSON object, which may stand in a fence or behind a word or two; None if none."""
    start, end = text.find("{"), text.rfind("}")
    if not 0 <= start < end:
        return None
    try:
        told = orjson.loads(text[start : end + 1])
    except orjson.JSONDecodeError:
        return None
    listed = told.get("corrections") if isinstance(told, dict) else None
    return listed if isinstance(listed, list) else None


def _begun(text: str) -> list[Any]:
    """The whole ones of a list that ended too early, since a reply may have so many tokens and no more."""
    head = _LIST.search(text)
    found: list[Any] = []
    for item in _ITEM.finditer(text, head.end()) if head else ():
        try:
            found.append(orjson.loads(item.group()))
        except orjson.JSONDecodeError:
            found.append(None)
    return found


def _from_json(one: Any, bounded: Language | None) -> Correction | Fate:
    if not isinstance(one, dict):
        return "malformed"
    quote, fixed, evidence = (one.get(name) for name in Correction._fields)
    if not isinstance(quote, str) or not isinstance(fixed, str):
        return "malformed"
    evidence = evidence if isinstance(evidence, str) else ""
    if bounded and len(fixed) == (FIGURE[bounded] if facts(quote) == [quote] else LONGEST):
        return "cut_off"  # its last words are missing, most likely
    more = "…" if bounded and len(evidence) == EVIDENCE[bounded] else ""
    return Correction(quote.strip(_EDGES), fixed.strip(_EDGES), evidence.strip(_EDGES) + more)


def _marked(text: str) -> Iterator[Correction | Fate]:
    for part in _MARK.split(text)[1:]:
        line = part.strip().split("\n", 1)[0]
        what, *evidence = _EVIDENCE.split(line, maxsplit=1)
        sides = _ARROW.split(what, maxsplit=1)
        if len(sides) != 2:
            yield "malformed"
            continue
        quote, fixed = (side.strip(_EDGES + "。.（(，,；;") for side in sides)
        yield Correction(quote, fixed, evidence[0].strip(_EDGES + "）)。.") if evidence else "")


def _sifted(proposed: list[Correction | Fate], most: int) -> Reply:
    kept: list[Correction] = []
    dropped: list[Fate] = []
    for one in proposed:
        fate = _fate(one) if isinstance(one, Correction) else one
        if fate is None and len(kept) >= most:
            fate = "too_many"
        if fate is None and isinstance(one, Correction):
            kept.append(one)
        elif fate is not None:
            dropped.append(fate)
    return Reply(tuple(kept), tuple(dropped))


def _fate(one: Correction) -> Fate | None:
    """Why it can't be made; None if it can. What its own evidence says as the answer does is `backed`, not wrong."""
    if not one.quote or not one.fixed or max(map(len, one)) > 2 * LONGEST:
        return "malformed"
    if not one.evidence:
        return "no_evidence"
    quote, fixed, evidence = map(_spelled, one)
    if quote == fixed:
        return "same"
    if quote in evidence and (fixed in quote or fixed not in evidence):
        return "backed"
    return "no_answer" if _NO_ANSWER.search(one.fixed) else None


_DASHES = re.compile(r"\s*[-‐-―−－]\s*")


def _spelled(text: str) -> str:
    """Whatever its dashes, its case and its spaces."""
    return "".join(_DASHES.sub("-", text).lower().split())
