"""The student's vocabulary: those of the teacher's pieces, in lower case, that Chinese and English texts are made of.

The teacher knows a quarter of a million pieces in a hundred languages. Kept is what stands in the texts at least twice,
and every single Chinese character, so that no Chinese text is unknown.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tokenizers import Tokenizer, models, pre_tokenizers

from classifiers.text import clean

NOTHING, UNKNOWN = "<pad>", "<unk>"  # ids 0 and 1
MARKS = frozenset({"<s>", "</s>", NOTHING, UNKNOWN})
UNLIKELY = -25.0  # the unknown piece's score: taken only where nothing else fits
SEEN = 2
_CHARACTER = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")


def lowered(texts: Iterable[str], scores: Iterable[float]) -> dict[str, float]:
    """All pieces in lower case, each with the best score of its spellings."""
    found: dict[str, float] = {}
    for text, score in zip(texts, scores, strict=True):
        small = text.lower()
        if small not in MARKS:
            found[small] = max(score, found.get(small, score))
    return found


def count(pieces: Mapping[str, float], texts: Sequence[str]) -> Counter[str]:
    """How often each piece stands in the texts."""
    counts: Counter[str] = Counter()
    cutter = Tokenizer.from_str(json.dumps(description(pieces, None)))
    for one in cutter.encode_batch([clean(text) for text in texts], add_special_tokens=False):
        counts.update(one.tokens)
    return counts


def chosen(pieces: Mapping[str, float], counts: Mapping[str, int]) -> dict[str, float]:
    """The student's pieces, the likeliest first."""
    kept = {
        piece: score for piece, score in pieces.items() if counts.get(piece, 0) >= SEEN or _CHARACTER.fullmatch(piece)
    }
    return dict(sorted(kept.items(), key=lambda item: (-item[1], item[0])))


def description(pieces: Mapping[str, float], most_tokens: int | None) -> dict[str, Any]:
    """tokenizer.json: no normaliser, since the text comes clean, and scores of no more digits than matter."""
    vocabulary = [(NOTHING, 0.0), (UNKNOWN, UNLIKELY), *((piece, round(score, 3)) for piece, score in pieces.items())]
    made = Tokenizer(models.Unigram(vocabulary, 1, byte_fallback=False))
    made.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always", split=False)
    if most_tokens:
        made.enable_truncation(most_tokens)
    told: dict[str, Any] = json.loads(made.to_str())
    told["model"]["vocab"] = [[piece, round(score, 3)] for piece, score in told["model"]["vocab"]]
    return told
