"""How well the context hash tells who asks the same: `.venv/bin/python -m classifiers.evaluate_context [--data DIR]`.

For each set of pairs and each kind of negative: the share of like pairs found at 5 % and at 1 % false hits, with the
share of false hits that it really was. Thresholds are chosen on the dev split and applied to the test split. Beside the
shipped models stand MinHash and simhash over character 3-grams. The last line is the whole as one line of JSON.

PAWS-X tells the same words in another order from the same sense in other words. Nothing here can, and nothing should
pretend to: what is served on a near hash alone will be wrong there every second time.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from classifiers import lists
from classifiers.encoder import CONTEXT, Encoder
from classifiers.ngrams import Ngrams
from classifiers.scores import SHARES, Numbers, auc, found, threshold
from classifiers.text import clean
from classifiers.training import data
from classifiers.training.data import Pair

TIMED: Final = 2000  # texts, one by one


RADII: Final = (0, 3, 7, 11, 15)  # bits; an index of four bands finds all within 3, and all within 7 by probing
APART: Final = (
    ("banking77.en", "hwu64.en"),
    ("banking77.en", "xsid.en"),
    ("gptcache-mock.en", "banking77.en"),
    ("gptcache-mock.en", "hwu64.en"),
    ("crosswoz-acts.zh", "xsid.zh"),
)  # sets that share no topic


class Method(NamedTuple):
    """A way to see a text, and to say how alike two of them are."""

    name: str
    see: Callable[[str], Any]
    alike: Callable[[Any, Any], float]


class Line(NamedTuple):
    """One set, one kind of negative, one method."""

    set: str
    negatives: str
    like: int
    unlike: int
    method: str
    auc: float
    recall: dict[str, float]
    false: dict[str, float]


def ours(folder: Path = CONTEXT) -> list[Method]:
    """The shipped models."""
    encoder, ngrams = Encoder(folder), Ngrams(folder)
    return [
        Method("encoder cosine", lambda text: encoder.vectors([text])[0], lambda a, b: float(a @ b)),
        Method("encoder code", encoder.code, _agreeing),
        Method("ngrams code", ngrams.code, _agreeing),
    ]


def others() -> list[Method]:
    """What the article measures itself against."""
    from datasketch import MinHash  # only where models are judged
    from simhash import Simhash

    def minhash(text: str) -> Any:
        seen = MinHash(num_perm=128, seed=1)
        seen.update_batch([run.encode() for run in set(_runs(text))])
        return seen

    return [
        Method("MinHash 128", minhash, lambda a, b: float(a.jaccard(b))),
        Method("simhash 3-gram", lambda text: Simhash(_runs(text)).value, _agreeing),
    ]


def judge(methods: Sequence[Method], pairs: Iterable[Pair]) -> Iterator[Line]:
    """All lines of the table, set by set."""
    sets: dict[str, list[Pair]] = {}
    for pair in pairs:
        if pair.split != "train":
            sets.setdefault(pair.set, []).append(pair)
    for method in methods:
        for name, rows in sorted(sets.items()):
            scores = _scores(method, rows)
            for kind in sorted({row.kind for row in rows if not row.same}):
                yield _line(name, kind, method.name, rows, scores)


def times(methods: Sequence[Method], texts: Sequence[str]) -> dict[str, dict[str, float]]:
    """Milliseconds a text, one by one, as a request would ask."""
    told = {}
    for method in methods:
        method.see(texts[0])
        took = []
        for text in texts:
            begun = time.perf_counter()
            method.see(text)
            took.append(time.perf_counter() - begun)
        middle, rare = np.percentile(took, [50, 99]) * 1e3
        told[method.name] = {"p50": round(float(middle), 3), "p99": round(float(rare), 3)}
    return told


def domains(ngrams: Ngrams, pairs: Iterable[Pair]) -> str:
    """Markdown: to which domain the texts of each test set were given, in percent."""
    rows = ["| set | texts |" + "".join(f" {domain} |" for domain in lists.DOMAINS)]
    rows.append("|---|---:|" + "---:|" * len(lists.DOMAINS))
    texts: dict[str, set[str]] = {}
    for pair in pairs:
        if pair.split == "test":
            texts.setdefault(pair.set, set()).update((pair.a, pair.b))
    for name, some in sorted(texts.items()):
        counts = Counter(ngrams.domain(text)[0] for text in some)
        cells = "".join(f" {counts[domain] / len(some):.0%} |" for domain in lists.DOMAINS)
        rows.append(f"| {name} | {len(some)} |{cells}")
    return "\n".join(rows)


def radii(methods: Sequence[Method], pairs: Iterable[Pair]) -> str:
    """Markdown: what lies within so many bits, of pairs that ask the same and of texts that share no topic."""
    rows = ["| code | within | like pairs | unrelated pairs |", "|---|---:|---:|---:|"]
    test = [pair for pair in pairs if pair.split == "test" and not pair.set.startswith("paws")]
    for method in methods:
        codes = {pair.set: np.array([], np.uint64) for pair in test}
        seen = {text: method.see(text) for pair in test for text in (pair.a, pair.b)}
        for name in codes:
            codes[name] = np.array([seen[text] for pair in test if pair.set == name for text in pair[:2]], np.uint64)
        like = np.array([(seen[pair.a] ^ seen[pair.b]).bit_count() for pair in test if pair.same])
        pairs_apart = [
            np.bitwise_count(codes[one][:, None] ^ codes[other][None, :]).ravel()
            for one, other in APART
            if one in codes and other in codes
        ]
        apart = np.concatenate(pairs_apart) if pairs_apart else np.array([], np.uint8)
        rows += [
            f"| {method.name} | {bits} bits | {_share(like <= bits):.2f} | {_share(apart <= bits):.1e} |"
            for bits in RADII
        ]
    return "\n".join(rows)


def _share(true: NDArray[np.bool_]) -> float:
    """How many of these are true; none if there are none."""
    return float(true.mean()) if len(true) else 0.0


def table(lines: Sequence[Line]) -> str:
    """Markdown: a row for each set and kind of negative, a column for each method."""
    methods = list(dict.fromkeys(line.method for line in lines))
    share = " / ".join(f"{share:.0%}" for share in SHARES)
    rows = [
        f"Recall at {share} false hits (in brackets the false hits it really was) · AUC",
        "",
        "| set | negatives | like | unlike |" + "".join(f" {method} |" for method in methods),
        "|---|---|---:|---:|" + "---:|" * len(methods),
    ]
    for name, kind in sorted({(line.set, line.negatives) for line in lines}):
        same = {line.method: line for line in lines if (line.set, line.negatives) == (name, kind)}
        one = next(iter(same.values()))
        cells = "".join(f" {_cell(same[method])} |" for method in methods)
        rows.append(f"| {name} | {kind} | {one.like} | {one.unlike} |{cells}")
    return "\n".join(rows)


def summary(lines: Sequence[Line]) -> dict[str, Any]:
    """The table as plain values: set, kind of negative, method."""
    told: dict[str, Any] = {}
    for line in lines:
        values = {"auc": line.auc, "recall": line.recall, "false": line.false}
        told.setdefault(line.set, {}).setdefault(line.negatives, {})[line.method] = values
    return told


def _line(name: str, kind: str, method: str, rows: Sequence[Pair], scores: Numbers) -> Line:
    def of(split: str, wanted: bool) -> Numbers:
        return scores[[r.split == split and (r.same if wanted else r.kind == kind and not r.same) for r in rows]]

    like, unlike, chosen_on = of("test", True), of("test", False), of("dev", False)
    at = {f"{share:.0%}": found(threshold(chosen_on, share), like, unlike) for share in SHARES}
    return Line(
        name, kind, len(like), len(unlike), method, round(auc(like, unlike), 4),
        {share: round(result.recall, 4) for share, result in at.items()},
        {share: round(result.false, 4) for share, result in at.items()},
    )  # fmt: skip


def _scores(method: Method, rows: Sequence[Pair]) -> Numbers:
    seen = {text: method.see(text) for text in {text for row in rows for text in (row.a, row.b)}}
    return np.array([method.alike(seen[row.a], seen[row.b]) for row in rows])


def _cell(line: Line) -> str:
    parts = (f"{line.recall[share]:.2f} ({line.false[share]:.2f})" for share in line.recall)
    return " / ".join(parts) + f" · {line.auc:.2f}"


def _agreeing(one: int, other: int) -> float:
    return 64 - (one ^ other).bit_count()


def _runs(text: str) -> list[str]:
    text = clean(text)
    return [text[start : start + 3] for start in range(max(1, len(text) - 2))]


def main() -> None:
    """Print the table, the times, and the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data.option(parser)
    pairs = data.pairs(parser.parse_args().data)
    methods = [*ours(), *others()]
    lines = list(judge(methods, pairs))
    took = times(methods, sorted({pair.a for pair in pairs if pair.split == "test"})[:TIMED])
    print(table(lines), "\n")
    print(domains(Ngrams(), pairs), "\n")
    print(radii([method for method in methods if method.name.endswith("code")], pairs), "\n")
    for name, told in took.items():
        print(f"{name}: p50 {told['p50']} ms, p99 {told['p99']} ms a text")
    print(json.dumps({"sets": summary(lines), "time_ms": took}))


if __name__ == "__main__":
    main()
