"""The shipped classifier: probabilities, the same each time; no damaged model is ever used."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from classifiers import manifest
from classifiers.manifest import ModelFault
from classifiers.reading import Asked
from classifiers.refine import FILES, MODES, PARTS, REFINE, Assessor, mode_of
from tests.classifiers.answers import MYTHS, ODD, PLAIN, RIGHT, SOBER, WRONG, assessor


def copy(target: Path) -> Path:
    """The shipped model, in a folder of its own."""
    shutil.copytree(REFINE, target / "refine")
    return target / "refine"


def retell(folder: Path, **changed: Any) -> None:
    """Another manifest."""
    path = folder / manifest.FILE
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **changed}), encoding="utf-8")


def test_risks_are_probabilities_one_for_each() -> None:
    risks = assessor().risks([*RIGHT, *PLAIN])
    assert len(risks) == len(RIGHT) + len(PLAIN)
    assert all(0 < risk < 1 for risk in risks)
    assert assessor().risks([]) == []


def test_another_part_of_the_context_is_riskier_than_the_right_one() -> None:
    right, wrong = assessor().risks(RIGHT), assessor().risks(WRONG)
    assert sum(w > r for w, r in zip(wrong, right, strict=True)) >= 5, (right, wrong)


def test_misconceptions_are_riskier_than_sober_answers() -> None:
    myths, sober = assessor().risks(MYTHS), assessor().risks(SOBER)
    assert sum(m > s for m, s in zip(myths, sober, strict=True)) >= 3, (myths, sober)


def test_a_risk_does_not_hang_on_what_stands_beside_it() -> None:
    items = [*RIGHT, *WRONG, *PLAIN]
    assert assessor().risks(items) == [assessor().risks([item])[0] for item in items]


def test_threads_get_the_answers_they_would_get_alone() -> None:
    alone = assessor().risks(PLAIN)
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda item: assessor().risks([item])[0], PLAIN * 3)) == alone * 3


@pytest.mark.parametrize("text", ODD, ids=lambda text: repr(text[:9]))
def test_nothing_breaks_it(text: str) -> None:
    for asked in (Asked(text, "", text), Asked("退款?", text, "3 days"), Asked("refund?", "In 3 days.", text)):
        assert 0 < assessor().risks([asked])[0] < 1


@pytest.mark.parametrize("context", [False, True])
@pytest.mark.parametrize("language", ["zh", "en"])
def test_each_mode_has_a_threshold_of_its_own(language: Any, context: bool) -> None:
    assert 0 < assessor().threshold(language, context) < 1
    others = {assessor().threshold(one, with_one) for one in ("zh", "en") for with_one in (False, True)}
    assert len(others) == 4


def test_the_mode_is_language_and_context() -> None:
    assert [mode_of(RIGHT[0]), mode_of(RIGHT[3]), mode_of(MYTHS[0]), mode_of(MYTHS[2])] == [
        "en+context", "zh+context", "en", "zh",
    ]  # fmt: skip
    assert mode_of(RIGHT[0]._replace(context="  ")) == "en"


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_never_loaded(tmp_path: Path, name: str) -> None:
    folder = copy(tmp_path)
    content = bytearray((folder / name).read_bytes())
    content[len(content) // 2] ^= 1
    (folder / name).write_bytes(content)
    with pytest.raises(ModelFault, match=rf"{name}: has the right size, but its sha256 is not"):
        Assessor(folder)


def test_a_folder_that_is_not_there_is_a_fault_with_the_fix(tmp_path: Path) -> None:
    with pytest.raises(ModelFault, match=r"is missing. Run `make train-refine`"):
        Assessor(tmp_path / "refine")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("part", PARTS)
def test_a_manifest_without_a_number_is_a_fault(tmp_path: Path, mode: str, part: str) -> None:
    (tmp_path / "refine").mkdir()
    modes = json.loads(json.dumps(manifest.load(REFINE).manifest.metrics["modes"]))
    for name in (REFINE / name for name in [*FILES, manifest.FILE]):
        (tmp_path / "refine" / name.name).symlink_to(name)
    (tmp_path / "refine" / manifest.FILE).unlink()
    shutil.copy(REFINE / manifest.FILE, tmp_path / "refine")
    del modes[mode][part]
    retell(tmp_path / "refine", metrics={"modes": modes})
    with pytest.raises(ModelFault, match="lacks or misstates its modes"):
        Assessor(tmp_path / "refine")
