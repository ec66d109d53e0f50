"""The parts of a training: what is shown in each, how the network fares on the dev split after it, and where its state
is kept, so that a training that was broken off goes on where it was."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch
from tokenizers import Tokenizer

from classifiers import measures
from classifiers.rows import row
from classifiers.training import cases, data, lesson, units, words
from classifiers.training.cases import Case
from classifiers.training.lesson import Lesson
from classifiers.training.reader import Reader
from classifiers.training.teacherfile import Weights
from classifiers.training.units import Unit

KEPT: Final = Path(__file__).resolve().parents[2] / ".run" / "train-refine"  # folder of states
Random = np.random.Generator


class Part(NamedTuple):
    """Rounds through what has no context and what has one, how often small sources are shown, the highest rate."""

    plain: float
    grounded: float
    small: int
    rate: float


class Kit(NamedTuple):
    """What each part needs. `kept` is the folder of states."""

    everything: Sequence[Case]
    tokenizer: Tokenizer
    kept: Path
    seed: int


def say(what: str) -> None:
    """Progress, with the CPU time that has gone."""
    print(f"{time.process_time():7.0f} s  {what}", flush=True)


def vocabulary(weights: Weights, folder: Path, everything: Sequence[Case]) -> words.Kept:
    """The pieces that all texts for training are made of."""
    return words.choose(weights.pieces, [*_texts(folder, everything)])


def _texts(folder: Path, everything: Sequence[Case]) -> Iterator[str]:
    for case in everything:
        if case.split == "train":
            yield from dict.fromkeys(case.asked)
    yield from data.sentences(folder)
    for pair in data.pairs(folder):
        if pair.split == "train":
            yield from (pair.a, pair.b)


def through(made: Reader, parts: Sequence[Part], kit: Kit) -> tuple[int, list[dict[str, Any]]]:
    """All parts: CPU seconds, and the AUC on dev after each."""
    kit.kept.mkdir(parents=True, exist_ok=True)
    curve = []
    for number, part in enumerate(parts):
        states, told = kit.kept / f"part{number}.pt", kit.kept / f"part{number}.json"
        if told.is_file():
            made.load_state_dict(torch.load(states, weights_only=True))
        else:
            begun = time.process_time()
            _learn(made, part, kit, np.random.default_rng(kit.seed + number))
            took = round(time.process_time() - begun)
            torch.save(made.state_dict(), states)
            told.write_text(json.dumps({"cpu_seconds": took, **part._asdict(), "auc": judged(made, kit, "dev")}))
        torch.manual_seed(kit.seed + number + 1)  # so that a part is the same after one that was kept
        curve.append(json.loads(told.read_text()))
    return sum(part["cpu_seconds"] for part in curve), curve


def judged(made: Reader, kit: Kit, split: str) -> dict[str, float]:
    """The AUC of the network alone, for each source of a split."""
    asked = [c for c in kit.everything if c.split == split and not c.source.startswith(cases.SHORTCUTS)]
    numbers = lesson.numbers(made, [row(kit.tokenizer, case.asked) for case in asked])
    wrong = np.array([case.wrong for case in asked])
    found = {}
    for source in sorted({case.source for case in asked}):
        of = np.array([case.source == source for case in asked])
        found[source] = round(measures.separation(numbers[of], wrong[of]), 4)
    say(f"{split} {json.dumps(found)}")
    return found


def mean(kit: Kit, numbers: Sequence[int]) -> Mapping[str, torch.Tensor]:
    """The mean of the states after these parts."""
    states = [torch.load(kit.kept / f"part{number}.pt", weights_only=True) for number in numbers]
    return {name: sum(state[name] for state in states) / len(states) for name in states[0]}


def _learn(made: Reader, part: Part, kit: Kit, random: Random) -> None:
    asked = units.questions(kit.everything)
    plain = _rounds(part.plain, lambda: units.plain(kit.everything, part.small, random), kit.tokenizer, random)
    grounded = _rounds(part.grounded, lambda: units.grounded(asked, random), kit.tokenizer, random)
    planned = lesson.batches(plain + grounded, random)
    say(f"{len(plain)} units without a context, {len(grounded)} with one, in {len(planned)} batches")
    lesson.run(made, planned, part.rate, random, say)


def _rounds(count: float, draw: Callable[[], Iterator[Unit]], tokenizer: Tokenizer, random: Random) -> list[Lesson]:
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
