"""How well wrong answers are told from right ones: `.venv/bin/python -m classifiers.evaluate [--data DIR]`.

By source and never pooled, beside what a classifier must be better than: the answer's length, words of doubt, n-grams,
fastText and, where there is a context, how near the question's words the answer stands in it. Thresholds are those of
the manifest, chosen on the dev split. The last line is the whole as one line of JSON.

The data is public, but no part of this repository; without it the command says what to do. The n-gram baselines are
trained on the spot, in half a minute.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from classifiers import baselines, measures
from classifiers.measures import At, Numbers, Truth
from classifiers.reading import Asked
from classifiers.refine import MODES, Assessor, mode_of
from classifiers.training import cases, data, harder
from classifiers.training.cases import Case

OURS: Final = "whole"
NETWORK, PHRASES = "its network", "its phrases"
NEAR: Final = "nearness"
BASELINES: Final = ("length", "doubt", "n-grams", "fastText", NEAR)
COLUMNS: Final = (NETWORK, PHRASES, *BASELINES)
FALSE: Final = 0.10  # of right answers, that may be refined for nothing
TIMED: Final = 300
TOKENS: Final = 128
LENGTHS: Final = (64, TOKENS, 192)


TITLES: Final = (
    "Sources it was trained for, answers to questions it never saw:\n",
    "Told by length or style alone, so never trained on, and no sign of anything:\n",
    "Wrong answers made like the right ones, from the same context and from the same sentence:\n",
)


class Line(NamedTuple):
    """One source."""

    source: str
    answers: int
    wrong: int
    auc: dict[str, float]
    range: tuple[float, float]  # of the whole's AUC
    at: At
    error: float  # of calibration


class Of(NamedTuple):
    """One mode: a language, with or without a context."""

    mode: str
    answers: int
    threshold: float
    at: At
    best: float  # recall at 10 % false triggers, the threshold chosen on these very answers
    error: float


class Judged(NamedTuple):
    """Answers, and what each method says of them."""

    cases: Sequence[Case]
    numbers: dict[str, Numbers]
    thresholds: Numbers
    modes: Sequence[str]


def judge(assessor: Assessor, known: Sequence[Case], asked: Sequence[Case]) -> Judged:
    """`known` is what the baselines are trained on."""
    said = assessor.say([case.asked for case in asked])
    modes = [assessor.mode(case.asked) for case in asked]
    numbers: dict[str, Numbers] = {
        OURS: np.array([mode.probability(one) for mode, one in zip(modes, said, strict=True)]),
        NETWORK: np.array([one.network for one in said]),
        PHRASES: np.array([one.phrases for one in said]),
    }
    for name, method in _baselines(known).items():
        numbers[name] = np.array([method(case.asked) for case in asked])
    return Judged(asked, numbers, np.array([mode.threshold for mode in modes]), [mode_of(case.asked) for case in asked])


def _baselines(known: Sequence[Case]) -> dict[str, Callable[[Asked], float]]:
    asked, wrong = [case.asked for case in known], [case.wrong for case in known]
    return {
        "length": baselines.length,
        "doubt": baselines.hedges,
        "n-grams": baselines.linear(asked, wrong),
        "fastText": baselines.fasttext(asked, wrong),
        NEAR: baselines.nearness,
    }


def lines(judged: Judged) -> list[Line]:
    """One for each source, by name."""
    wrong = _truth(judged.cases)
    found = []
    for source in sorted({case.source for case in judged.cases}):
        of = np.array([case.source == source for case in judged.cases])
        ours, so = judged.numbers[OURS][of], wrong[of]
        groups = [case.group for case in judged.cases if case.source == source]
        found.append(
            Line(
                source, int(of.sum()), int(so.sum()),
                {name: measures.separation(numbers[of], so) for name, numbers in judged.numbers.items()},
                measures.range_of(ours, so, groups), measures.at(judged.thresholds[of], ours, so),
                measures.calibration_error(ours, so),
            )
        )  # fmt: skip
    return found


def by_mode(judged: Judged) -> list[Of]:
    """One for each mode that there are answers of; only sources that it was trained for."""
    wrong = _truth(judged.cases)
    counted = np.array([not case.source.startswith((*cases.SHORTCUTS, *harder.KINDS)) for case in judged.cases])
    found = []
    for name in MODES:
        of = counted & np.array([mode == name for mode in judged.modes])
        if of.any():
            ours, so, limits = judged.numbers[OURS][of], wrong[of], judged.thresholds[of]
            best = measures.best_recall(ours, so, FALSE)
            told = measures.at(limits, ours, so), best, measures.calibration_error(ours, so)
            found.append(Of(name, int(of.sum()), float(limits[0]), *told))
    return found


def table(found: Sequence[Line]) -> str:
    """Markdown: a row for each source."""
    rows = [
        "| source | answers (wrong) | AUC (19 of 20) | " + " | ".join(COLUMNS) + " | F1 (all wrong) | precision"
        " | recall | false triggers | calibration error |",
        "|---|---:|---:|" + "---:|" * (len(COLUMNS) + 5),
    ]
    for line in found:
        base = " | ".join(f"{line.auc[name]:.3f}" for name in COLUMNS)
        always = 2 * line.wrong / (line.wrong + line.answers)
        rows.append(
            f"| {line.source} | {line.answers} ({line.wrong}) | **{line.auc[OURS]:.3f}** ({line.range[0]:.2f} to"
            f" {line.range[1]:.2f}) | {base} | {line.at.f1:.2f} ({always:.2f}) | {line.at.precision:.2f} |"
            f" {line.at.recall:.2f} | {line.at.false:.3f} | {line.error:.3f} |"
        )
    return "\n".join(rows)


def mode_table(found: Iterable[Of]) -> str:
    """Markdown: a row for each language, with and without a context."""
    rows = [
        "| mode | answers | threshold | precision | recall | false triggers | recall at 10 % | calibration error |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    rows += [
        f"| {of.mode} | {of.answers} | {of.threshold:.3f} | {of.at.precision:.2f} | {of.at.recall:.2f} |"
        f" {of.at.false:.3f} | {of.best:.2f} | {of.error:.3f} |"
        for of in found
    ]
    return "\n".join(rows)


def told(found: Iterable[Line], modes: Iterable[Of]) -> dict[str, Any]:
    """The tables as plain values."""

    def short(value: float) -> float:
        return round(value, 4)

    return {
        "auc": {line.source: short(line.auc[OURS]) for line in found},
        "baselines": {line.source: {name: short(line.auc[name]) for name in COLUMNS} for line in found},
        "sources": {
            line.source: {
                "answers": line.answers, "wrong": line.wrong, "auc_from": short(line.range[0]),
                "auc_to": short(line.range[1]), "calibration_error": short(line.error),
                **{name: short(value) for name, value in line.at._asdict().items()},
            }
            for line in found
        },
        "modes": {
            of.mode: {
                "answers": of.answers, "threshold": of.threshold, "recall_at_10_percent": short(of.best),
                "calibration_error": short(of.error), **{name: short(value) for name, value in of.at._asdict().items()},
            }
            for of in modes
        },
    }  # fmt: skip


def times(assessor: Assessor, tokens: int = TOKENS, times: int = TIMED) -> dict[str, float]:
    """Milliseconds for one answer of so many tokens, cutting it into tokens included: of the clock, and of the CPU."""
    asked = of_length(assessor, tokens)
    took, worked = [], []
    for _ in range(times + 5):
        begun, idle = time.perf_counter(), time.thread_time()
        assessor.risks([asked])
        took.append(time.perf_counter() - begun)
        worked.append(time.thread_time() - idle)
    middle, rare = np.percentile(took[5:], [50, 99]) * 1e3
    cpu = float(np.median(worked[5:])) * 1e3
    return {"p50": round(float(middle), 2), "p99": round(float(rare), 2), "cpu_p50": round(cpu, 2)}


def of_length(assessor: Assessor, tokens: int) -> Asked:
    """Something of just so many tokens to judge, with a context where it is long."""
    context = "The house was built of wood. " * 40 if tokens > TOKENS else ""
    asked = Asked("Who built this house, and when? " * 3, context, "")
    while assessor.tokens(asked) < tokens:
        asked = asked._replace(answer=asked.answer + " house")
    return asked


class Kinds(NamedTuple):
    """Lines of the sources that count, of those that are told by length or style, and of swaps made to be hard."""

    counted: list[Line]
    shortcuts: list[Line]
    harder: list[Line]


def kinds(found: Sequence[Line]) -> Kinds:
    """Which is which."""
    shortcuts = [line for line in found if line.source.startswith(cases.SHORTCUTS)]
    hard = [line for line in found if line.source.startswith(harder.KINDS)]
    return Kinds([line for line in found if line not in shortcuts and line not in hard], shortcuts, hard)


def time_table(took: Mapping[str, Mapping[str, float]]) -> str:
    """Markdown."""
    rows = [f"| {tokens} | {told['p50']} | {told['p99']} | {told['cpu_p50']} |" for tokens, told in took.items()]
    return "\n".join(["| tokens | p50 ms | p99 ms | ms of CPU, p50 |", "|---:|---:|---:|---:|", *rows])


def _truth(asked: Sequence[Case]) -> Truth:
    return np.array([case.wrong for case in asked], np.bool_)


def main() -> None:
    """Print the tables, the times, and the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    data.option(parser)
    parser.add_argument("--split", choices=("train", "dev", "test"), default="test", help="which answers are judged")
    parser.add_argument("--times", type=int, default=TIMED, metavar="N", help=f"how often it is timed ({TIMED})")
    asked = parser.parse_args()
    everything = cases.load(asked.data)
    assessor = Assessor()
    wanted = [case for case in everything if case.split == asked.split]
    judged = judge(assessor, cases.learnt(everything), [*wanted, *harder.harder(wanted)])
    found, modes = lines(judged), by_mode(judged)
    took = {str(tokens): times(assessor, tokens, asked.times) for tokens in LENGTHS}
    for title, some in zip(TITLES, kinds(found), strict=True):
        print(title, table(some), "", sep="\n")
    print(mode_table(modes), time_table(took), sep="\n\n")
    middle, rare = took[str(TOKENS)]["p50"], took[str(TOKENS)]["p99"]
    print(
        json.dumps({
            **told(found, modes), "time_ms": took, "classifier_p50_ms_128": middle, "classifier_p99_ms_128": rare,
        })
    )  # fmt: skip


if __name__ == "__main__":
    main()
