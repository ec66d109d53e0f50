"""The reader's vocabulary: those of the teacher's pieces that Chinese and English texts are made of, as they are."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from classifiers.training.teacherfile import Pieces

FIRST = ("\npad", "\nunk", "\nbegin", "\nend")  # ids 0 to 3: no text, since line ends become spaces before it is cut
UNLIKELY = -25.0  # their score
SEEN = 3
_CHARACTER = re.compile(r"▁?[\u3400-\u4dbf\u4e00-\u9fff]|▁?[!-~]|[，。、；：？！“”‘’（）《》【】…—·℃％￥]")


class Kept(NamedTuple):
    """The reader's own tokenizer.json, and the teacher's id of each of its pieces."""

    description: str
    ids: list[int]


def choose(pieces: Pieces, texts: Sequence[str]) -> Kept:
    """What stands in the texts at least three times, and every single character of both languages."""
    vocabulary = list(zip(pieces.texts, pieces.scores, strict=True))
    counts = _count(_tokenizer(vocabulary, pieces.unknown), texts)
    special = (pieces.pad, pieces.unknown, pieces.bos, pieces.eos)
    kept = [
        number
        for number, (text, _) in enumerate(vocabulary)
        if number not in special and (counts[text] >= SEEN or _CHARACTER.fullmatch(text))
    ]
    first = [(text, UNLIKELY) for text in FIRST]
    made: dict[str, Any] = json.loads(_tokenizer([*first, *(vocabulary[number] for number in kept)], 1).to_str())
    made["model"]["vocab"] = [[piece, round(score, 3)] for piece, score in made["model"]["vocab"]]
    return Kept(json.dumps(made, ensure_ascii=False, separators=(",", ":")), [*special, *kept])


def _tokenizer(vocabulary: list[tuple[str, float]], unknown: int) -> Tokenizer:
    made = Tokenizer(models.Unigram(vocabulary, unknown, byte_fallback=False))
    made.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace("\n", " ")])
    made.pre_tokenizer = pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always", split=False)
    return made


def _count(cutter: Tokenizer, texts: Iterable[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for one in cutter.encode_batch(list(texts), add_special_tokens=False):
        counts.update(one.tokens)
    return counts
