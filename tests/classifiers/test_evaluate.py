"""Sources are judged one by one, at thresholds of the manifest; without data one is told what to do."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from classifiers import evaluate
from classifiers.evaluate import COLUMNS, OURS, Judged
from classifiers.refine import MODES
from classifiers.training.cases import Case
from tests.classifiers.answers import MYTHS, RIGHT, SOBER, WRONG, assessor, write_answers

CASES = [Case(asked, False, "told.en", "test", str(n)) for n, asked in enumerate(RIGHT[:3])]
CASES += [Case(asked, True, "told.en", "test", str(n)) for n, asked in enumerate(WRONG[:3])]
CASES += [Case(MYTHS[0], True, "uhgeval.en", "test", "x"), Case(SOBER[0], False, "same-kind.en", "test", "y")]


def judged(*risks: float) -> Judged:
    """As if the network had said that."""
    numbers = {name: np.zeros(len(CASES)) for name in COLUMNS} | {OURS: np.array(risks)}
    return Judged(CASES, numbers, np.full(len(CASES), 0.5), ["en+context"] * 6 + ["en"] * 2)


def test_each_source_has_a_line() -> None:
    lines = {line.source: line for line in evaluate.lines(judged(0.1, 0.2, 0.6, 0.7, 0.8, 0.4, 0.9, 0.9))}
    assert lines.keys() == {"told.en", "uhgeval.en", "same-kind.en"}
    told = lines["told.en"]
    assert (told.answers, told.wrong) == (6, 3)
    assert told.auc[OURS] == pytest.approx(8 / 9)
    assert told.auc["length"] == 0.5
    assert [told.at.recall, told.at.false] == pytest.approx([2 / 3, 1 / 3])
    assert [[line.source for line in some] for some in evaluate.kinds(list(lines.values()))] == [
        ["told.en"], ["uhgeval.en"], ["same-kind.en"],
    ]  # fmt: skip


def test_a_mode_counts_only_what_it_was_trained_for() -> None:
    (mode,) = evaluate.by_mode(judged(0.1, 0.2, 0.6, 0.7, 0.8, 0.4, 0.9, 0.9))
    assert (mode.mode, mode.answers, mode.threshold) == ("en+context", 6, 0.5)


def test_the_tables_name_every_source_and_mode() -> None:
    what = judged(0.1, 0.2, 0.6, 0.7, 0.8, 0.4, 0.9, 0.9)
    head, rule, *rows = evaluate.table(evaluate.lines(what)).split("\n")
    assert len({row.count("|") for row in (head, rule, *rows)}) == 1
    assert any(row.startswith("| told.en | 6 (3) | **0.889** (") for row in rows)
    assert "| en+context | 6 | 0.500 |" in evaluate.mode_table(evaluate.by_mode(what))


@pytest.mark.parametrize("tokens", [64, 128, 192])
def test_times_are_of_answers_of_that_length(tokens: int) -> None:
    asked = evaluate.of_length(assessor(), tokens)
    assert assessor().tokens(asked) == tokens
    assert evaluate.times(assessor(), 64, 3).keys() == {"p50", "p99", "cpu_p50"}


def run(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(sys, "argv", ["evaluate", "--data", str(folder), "--times", "3"])
    evaluate.main()
    return capsys.readouterr().out.strip()


@pytest.mark.long
def test_the_command_prints_tables_and_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_answers(tmp_path)
    told = json.loads(run(tmp_path, capsys, monkeypatch).split("\n")[-1])
    assert {"truthfulqa-judge.en", "halluqa-ref.zh", "xquad-spanswap.en", "uhgeval.zh"} <= told["auc"].keys()
    assert told["modes"].keys() == set(MODES)
    assert 0 < told["classifier_p50_ms_128"] <= told["classifier_p99_ms_128"]


def test_without_data_one_is_told_what_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit, match=r"refine\.en\.jsonl\.gz is not there.*--data DIR"):
        run(tmp_path, capsys, monkeypatch)
