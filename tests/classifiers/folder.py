"""A data folder like the real one, of texts written here."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

LIKE = {
    "zh": [("怎么退款", "怎样退钱"), ("修改收货地址", "换一个收货地址"), ("什么时候发货", "几时能发货")],
    "en": [("get a refund", "give my money back"), ("change the address", "new address"), ("ship it", "send it")],
}
UNLIKE = {
    "zh": [("怎么退款", "怎么换货"), ("修改收货地址", "修改订单"), ("什么时候发货", "什么时候到货")],
    "en": [("get a refund", "get a receipt"), ("change the address", "change the order"), ("ship it", "cancel it")],
}
DOCS = {
    "zh": ("本店开在城东。嗯。" + "很长的一句话" * 30 + "。", "店铺在哪里？"),
    "en": ("The shop is in the east. Ok. " + "a very long sentence " * 20, "Where is the shop?"),
}


def write_data(folder: Path, extra: str = "") -> None:
    """Writes pairs/ and docs/ in both languages; each pair stands in each split, marked by it."""
    for language in ("zh", "en"):
        rows = [
            pair(language, split, kind, label, *(f"{text} {split} {number}" for text in texts))
            for split in ("train", "dev", "test")
            for label, kind, edges in (
                (1, "same-intent", LIKE[language]),
                (0, "hard-neg-nearest", UNLIKE[language]),
                (0, "random-neg", [(a, d) for (a, _), (_, d) in zip(LIKE[language], DOCS_AS_PAIRS, strict=True)]),
            )
            for number, texts in enumerate(edges)
        ]
        write(folder / "pairs" / f"pairs.{language}.jsonl.gz", [*rows, *([{**rows[0], "b": extra}] if extra else [])])
        text, question = DOCS[language]
        doc = {"text": text, "questions": [{"q": question}], "source": "guide", "licence": "CC0"}
        docs = [{**doc, "split": "train"}, {**doc, "split": "test", "text": "Nothing of this is ever read."}]
        write(folder / "docs" / f"docs.{language}.jsonl.gz", docs)


DOCS_AS_PAIRS = [("", "tell me a joke"), ("", "play some music"), ("", "turn off the lights")]


def pair(language: str, split: str, kind: str, label: int, a: str, b: str) -> dict[str, Any]:
    """A row of pairs."""
    same = {"lang": language, "source": "shop", "licence": "CC0", "split": split}
    return {**same, "a": a, "b": b, "label": label, "kind": kind}


def write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Rows as JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
