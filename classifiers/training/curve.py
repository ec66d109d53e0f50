"""What more layers, more questions and more rounds give: `python -m classifiers.training.curve --layers 12 --rounds 2`.

Trains a network from the teacher's first layers on answers without a context, on a share of their questions, and judges
it, before it is quantised, on dev and test after each round. Nothing that ships is touched. States are kept under
`.run/`, by their settings. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any, Final

import torch
from tokenizers import Tokenizer

from classifiers.training import cases, course, data, reader
from classifiers.training.cases import Case
from classifiers.training.course import Kit, Part, say
from classifiers.training.teacherfile import Weights, find

RATE: Final = 1.1e-4
SEED: Final = 1


def measured(everything: Sequence[Case], weights: Weights, asked: argparse.Namespace) -> dict[str, Any]:
    """The curve of one setting."""
    kept = course.vocabulary(weights, asked.data, everything)
    folder = course.KEPT / f"curve-{asked.layers}-{asked.share}"
    plain = [case for case in cases.share(everything, asked.share) if not case.asked.context]
    kit = Kit(plain, Tokenizer.from_str(kept.description), folder, SEED)
    torch.manual_seed(SEED)
    made = reader.start(weights, kept.ids, layers=range(asked.layers))
    seconds, curve = course.through(made, [Part(1, 0, 1, RATE)] * asked.rounds, kit)
    return {
        "layers": asked.layers,
        "share": asked.share,
        "answers": len(cases.learnt(kit.everything)),
        "rounds": asked.rounds,
        "cpu_seconds": seconds,
        "dev": [part["auc"] for part in curve],
        "test": course.judged(made, kit, "test"),
    }


def main() -> None:
    """One setting."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data.option(parser)
    parser.add_argument("--layers", type=int, default=reader.LAYERS, help="of the teacher's twelve")
    parser.add_argument("--share", type=float, default=1.0, help="of the questions that are trained on")
    parser.add_argument("--rounds", type=int, default=2, help="through the answers")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    told = measured(cases.load(asked.data), Weights(find()), asked)
    say("done")
    print(json.dumps(told))


if __name__ == "__main__":
    main()
