"""Whether two answers say the same, so that what was found wrong in one is wrong in the other.

They are compared sentence by sentence, in order, by the gates that compare questions. Those pass over what a question
may begin with ("I am not sure whether"), which in an answer means something: so figures, denials, hedges and names
must also stand there in the same order, as they are written. In doubt they differ.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gateway.gates import same_question

LONGEST = 8000  # characters of an answer
SENTENCES = 60

_ENDS = re.compile(r"(?<=[。！？；!?;])\s*|(?<=\.)\s+|\n+")
_FIGURES = re.compile(r"\d+(?:[.,:/-]\d+)*|[零〇一二两三四五六七八九十百千万亿半]+|[%％‰$€£¥￥]")
_WEIGHTY = re.compile(
    r"[不没无未非否别勿莫禁免拒难]|可能|大概|也许|或许|据说|左右|只|仅|除|若|如果|必须|应当?|可以?|需"
    r"|\b(?:no|not|never|none|nor|neither|nobody|nothing|without|cannot|hardly|unless|except|only|may|might|must|should|"
    r"could|can|maybe|perhaps|probably|possibly|likely|roughly|about|sure|know|think|believe|guess|doubt|if|but|all|some|"
    r"any|every|most|few)\b|n't\b",
    re.IGNORECASE,
)
_NAMES = re.compile(r"(?<=[^\s.!?。！？])\s+([A-Z][\w&.-]*)|\b([A-Z]{2,}\w*)\b|[《“\"「『]([^》”\"」』\n]{1,80})")


def differ(one: str, other: str) -> str:
    """Which gate found that the answers differ; "" if none did."""
    if one == other:
        return ""
    if max(len(one), len(other)) > LONGEST:
        return "length"
    sentences, others = _sentences(one), _sentences(other)
    if len(sentences) != len(others) or len(sentences) > SENTENCES:
        return "sentences"
    return next((gate for pair in zip(sentences, others, strict=True) if (gate := _differ(*pair))), "")


def _differ(one: str, other: str) -> str:
    if one == other:
        return ""
    if _FIGURES.findall(one) != _FIGURES.findall(other):
        return "number"
    gate = same_question(one, other)
    if not gate.same:
        return gate.differs
    if _weighty(one) != _weighty(other):
        return "wording"
    return "" if _names(one) == _names(other) else "entity"


def _weighty(sentence: str) -> Sequence[str]:
    return _WEIGHTY.findall(sentence.lower())


def _names(sentence: str) -> Sequence[str]:
    return ["".join(match) for match in _NAMES.findall(sentence)]


def _sentences(text: str) -> list[str]:
    return [sentence.strip() for sentence in _ENDS.split(text) if sentence.strip()]
