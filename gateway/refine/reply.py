"""A reply of the second reading, understood: JSON, or lines marked as the instruction says. It is a model's word, so
nothing of it is believed that has no evidence or that can't be found in the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

import orjson

from gateway.refine.wording import LONGEST
from gateway.types import Correction

# Why a proposed correction is not made. Stable words, for metrics.
Fate = Literal["no_evidence", "malformed", "too_many", "same", "no_answer", "not_found", "ambiguous"]

MOST_READ = 1 << 16  # characters of a reply

_FINE = re.compile(r"【无需修正】|\[no corrections?\]", re.IGNORECASE)
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


class Reply(NamedTuple):
    """What a reply proposes. Not `readable`: it is in no form that was asked for, so it says nothing at all."""

    corrections: tuple[Correction, ...] = ()
    dropped: tuple[Fate, ...] = ()
    readable: bool = True


def read(text: str, most: int) -> Reply:
    """The corrections of a reply, at most so many."""
    text = text[:MOST_READ]
    listed = _json(text)
    if listed is None:
        marked = list(_marked(text))
        if not marked:
            return Reply(readable=_FINE.search(text) is not None)
        return _sifted(marked, most)
    return _sifted([_from_json(one) for one in listed], most)


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


def _from_json(one: Any) -> Correction | None:
    if not isinstance(one, dict):
        return None
    fields = [one.get(name) for name in Correction._fields]
    if not all(isinstance(field, str) for field in (one.get("quote"), one.get("fixed"))):
        return None
    return Correction(*(field.strip(_EDGES) if isinstance(field, str) else "" for field in fields))


def _marked(text: str) -> Iterator[Correction | None]:
    for part in _MARK.split(text)[1:]:
        line = part.strip().split("\n", 1)[0]
        what, *evidence = _EVIDENCE.split(line, maxsplit=1)
        sides = _ARROW.split(what, maxsplit=1)
        if len(sides) != 2:
            yield None
            continue
        quote, fixed = (side.strip(_EDGES + "。.（(，,；;") for side in sides)
        yield Correction(quote, fixed, evidence[0].strip(_EDGES + "）)。.") if evidence else "")


def _sifted(proposed: list[Correction | None], most: int) -> Reply:
    kept: list[Correction] = []
    dropped: list[Fate] = []
    for one in proposed:
        fate = "malformed" if one is None else _fate(one)
        if fate is None and len(kept) >= most:
            fate = "too_many"
        if fate is None and one is not None:
            kept.append(one)
        elif fate is not None:
            dropped.append(fate)
    return Reply(tuple(kept), tuple(dropped))


def _fate(one: Correction) -> Fate | None:
    """Why it can't be made; None if it can."""
    if not one.quote or not one.fixed or max(map(len, one)) > 2 * LONGEST:
        return "malformed"
    if not one.evidence:
        return "no_evidence"
    if one.quote == one.fixed:
        return "same"
    return "no_answer" if _NO_ANSWER.search(one.fixed) else None
