"""Would something stored for one question be served for another? A similarity search, with and without the gates.

Strict pairs (tests/gates/pairs) differ in a number, a negation, an entity ...: none may be served. Of the pairs that
people say mean the same (data/pairs, dev split) as many as possible should be.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from datasketch import MinHash
from rich.console import Console
from rich.table import Table
from simhash import Simhash

from classifiers.encoder import Encoder
from gateway.gates import same_question
from gateway.similar import MODELS
from tests.bench import docs

STRICT = Path(__file__).parents[1] / "gates" / "pairs"
FALSE = 0.05  # of the pairs that don't mean the same, each search is set to take so many for the same


class Pair(NamedTuple):
    """Two questions, and whether they mean the same."""

    a: str
    b: str
    same: bool
    set: str


def strict() -> Iterator[Pair]:
    for file in sorted(STRICT.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            yield Pair(row["a"], row["b"], row["same"], file.name.removesuffix(".jsonl"))


def people(data: Path) -> Iterator[Pair]:
    for lang in ("zh", "en"):
        file = data / "pairs" / f"pairs.{lang}.jsonl.gz"
        if not file.is_file():
            raise docs.NoData(f"{file} is not there: name the folder that holds pairs/ with --data DIR")
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                if row["split"] == "dev":
                    yield Pair(row["a"], row["b"], bool(row["label"]), f"{row['source']} {lang}")


def searches() -> Mapping[str, Callable[[str, str], float]]:
    """How alike two texts are, by each of them: the more the higher."""
    encoder = Encoder(MODELS)

    def cosine(a: str, b: str) -> float:
        one, other = encoder.vectors([a, b])
        return float(one @ other)

    def code(a: str, b: str) -> float:
        return float(64 - (encoder.code(a) ^ encoder.code(b)).bit_count())

    return {"encoder": cosine, "code64": code, "minhash": _minhash, "simhash": _simhash}


def _minhash(a: str, b: str) -> float:
    one, other = MinHash(128), MinHash(128)
    for made, text in ((one, a), (other, b)):
        for gram in _grams(text):
            made.update(gram.encode(errors="replace"))
    return float(one.jaccard(other))


def _simhash(a: str, b: str) -> float:
    return float(64 - Simhash(_grams(a)).distance(Simhash(_grams(b))))


def _grams(text: str) -> list[str]:
    return [text[at : at + 3] for at in range(max(len(text) - 2, 1))]


def measured(data: Path, console: Console) -> dict[str, Any]:
    """Recall of what means the same before and after the gates, and what is served that may not be."""
    hard, asked = list(strict()), list(people(data))
    gate = {(pair.a, pair.b): same_question(pair.a, pair.b).same for pair in (*hard, *asked)}
    out: dict[str, Any] = {"strict_pairs": sum(not pair.same for pair in hard)}
    rows: dict[str, dict[str, tuple[float, float]]] = defaultdict(dict)
    for name, alike in searches().items():
        score = {(pair.a, pair.b): alike(pair.a, pair.b) for pair in (*hard, *asked)}
        other = [score[pair.a, pair.b] for pair in asked if not pair.same]
        least = float(np.quantile(other, 1 - FALSE))

        def taken(pair: Pair, score: Any = score, least: float = least) -> bool:
            return bool(score[pair.a, pair.b] > least)

        wrong = [pair for pair in hard if not pair.same and taken(pair)]
        out[f"{name}_false_hits"] = len(wrong)
        out[f"{name}_gated_false_hits"] = sum(gate[pair.a, pair.b] for pair in wrong)
        for of in sorted({pair.set for pair in (*hard, *asked) if pair.same}):
            those = [pair for pair in (*hard, *asked) if pair.set == of and pair.same]
            before = sum(taken(pair) for pair in those) / len(those)
            after = sum(taken(pair) and gate[pair.a, pair.b] for pair in those) / len(those)
            rows[of][name] = (before, after)
    out["gated_false_hits"] = sum(gate[pair.a, pair.b] for pair in hard if not pair.same)
    out["recall_gates_alone"] = round(np.mean([gate[pair.a, pair.b] for pair in asked if pair.same]).item(), 4)
    console.print(_table(rows))
    return out | {
        f"recall_{name}": [round(float(np.mean([row[name][part] for row in rows.values()])), 4) for part in (0, 1)]
        for name in searches()
    }


def _table(rows: Mapping[str, Mapping[str, tuple[float, float]]]) -> Table:
    names = list(next(iter(rows.values())))
    table = Table("recall at 5 % false, then gated", *names, box=None)
    for of, row in rows.items():
        table.add_row(of, *(f"{before:.2f} {after:.2f}" for before, after in (row[name] for name in names)))
    return table
