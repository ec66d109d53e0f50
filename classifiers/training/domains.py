"""The fastText model that tells finance, e-commerce and education from the rest.

No public set with these four labels is among the data, so it learns from the word lists: each term alone and in plain
sentences, beside the questions of a bank's customers and general texts in which no term of another domain stands.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import fasttext
import numpy as np

from classifiers import lists
from classifiers.ngrams import LABEL
from classifiers.text import words
from classifiers.training.data import Pair

WIDTH = 16
EPOCHS = 20
RATE = 0.3
BUCKETS = 50_000
KEPT = 30_000  # words and n-grams that the quantised model keeps
GENERAL = 9_000  # general texts at most
TIMES = 4  # sentences made for each term
SENTENCES = {
    True: (
        "怎么{}", "{}是什么", "{}怎么办", "我想{}", "{}在哪里", "请问{}多少", "关于{}的问题", "帮我查一下{}",
        "为什么{}", "{}需要多久", "解释一下{}", "{}和别的有什么区别",
    ),
    False: (
        "how do i {}", "what is {}", "where is my {}", "i have a question about {}", "why is {} so slow",
        "help me with {}", "explain {}", "how long does {} take", "tell me about {}", "is {} possible",
        "my {} is wrong", "compare {} with others",
    ),
}  # fmt: skip
SETS = {"banking77.en": "finance"}  # sets of which all texts belong to one domain
_HAN = re.compile(r"[\u3400-\u9fff]")

Labelled = tuple[str, str]  # domain, text


def examples(pairs: Sequence[Pair], sentences: Iterable[str], random: np.random.Generator) -> list[Labelled]:
    """What it learns from, in random order."""
    known = [
        (SETS[pair.set], text) for pair in pairs if pair.set in SETS and pair.split == "train" for text in pair[:2]
    ]
    other = [text for pair in pairs if pair.set not in SETS and pair.split == "train" for text in pair[:2]]
    special = {tuple(words(term)) for domain in lists.DOMAINS[1:] for term in lists.terms(domain)}
    plain = [text for text in (*other, *sentences) if not _holds(words(text), special)]
    drawn = [("general", plain[n]) for n in random.permutation(len(plain))[:GENERAL]]
    found = [*known, *drawn, *_made(random)]
    return [found[n] for n in random.permutation(len(found))]


def train(labelled: Sequence[Labelled], target: Path, seed: int) -> None:
    """Writes the quantised model."""
    lines = [f"{LABEL}{domain} {' '.join(words(text))}\n" for domain, text in labelled]
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "examples.txt"
        source.write_text("".join(lines), encoding="utf-8")
        model = fasttext.train_supervised(
            str(source), dim=WIDTH, wordNgrams=3, bucket=BUCKETS, epoch=EPOCHS, lr=RATE, thread=1, seed=seed, verbose=0
        )
        model.quantize(str(source), qnorm=True, retrain=True, cutoff=KEPT, thread=1, verbose=0)
        model.save_model(str(target))


def _made(random: np.random.Generator) -> Iterator[Labelled]:
    for domain in lists.DOMAINS:
        for term in lists.terms(domain):
            yield domain, term
            for sentence in random.choice(SENTENCES[bool(_HAN.search(term))], TIMES, replace=False):
                yield domain, str(sentence).replace("{}", term)


def _holds(cut: Sequence[str], terms: set[tuple[str, ...]]) -> bool:
    longest = 6
    return any(tuple(cut[at : at + size]) in terms for at in range(len(cut)) for size in range(1, longest + 1))
