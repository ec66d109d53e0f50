"""What is read of the answers; and what a user is told who has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from classifiers.reading import Asked
from classifiers.training import cases
from classifiers.training.data import Source
from tests.classifiers.answers import write_answers


def test_all_languages_and_splits_are_read(tmp_path: Path) -> None:
    write_answers(tmp_path)
    everything = cases.load(tmp_path)
    assert {case.split for case in everything} == {"train", "dev", "test"}
    assert {"xquad-spanswap.en", "drcd-spanswap.zh-Hant", "halluqa-ref.zh"} <= {case.source for case in everything}
    assert {type(case.wrong) for case in everything} == {bool}
    assert {case.asked.context for case in everything if case.source == "halluqa-ref.zh"} == {""}


def test_what_is_told_by_length_or_style_is_not_learnt(tmp_path: Path) -> None:
    write_answers(tmp_path)
    learnt = cases.learnt(cases.load(tmp_path))
    assert {case.split for case in learnt} == {"train"}
    assert not any(case.source.startswith(("uhgeval", "halueval-qa")) for case in learnt)
    assert Source("xquad-spanswap (en)", "CC0", 6) in cases.sources(tmp_path)
    assert not any(source.name.startswith(("uhgeval", "halueval-qa")) for source in cases.sources(tmp_path))


def test_a_share_of_the_questions_is_left(tmp_path: Path) -> None:
    def case(group: int, split: str) -> cases.Case:
        return cases.Case(Asked("", "", ""), False, "shop.en", split, f"group {group}")

    everything = [case(group, split) for group in range(400) for split in ("train", "dev", "train")]
    half = [*cases.share(everything, 0.5)]
    left = {one.group for one in half if one.split == "train"}
    assert 150 < len(left) < 250
    assert [one for one in everything if one.split == "dev" or one.group in left] == half
    assert left < {one.group for one in cases.share(everything, 0.7) if one.split == "train"}
    assert [*cases.share(everything, 1.0)] == everything


def test_the_hash_changes_with_the_data(tmp_path: Path) -> None:
    write_answers(tmp_path)
    before = cases.digest(tmp_path)
    path = tmp_path / "refine" / "refine.zh.jsonl.gz"
    path.write_bytes(path.read_bytes() + b"\n")
    assert cases.digest(tmp_path) != before


def test_a_folder_that_is_not_there_is_told_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"refine\.en\.jsonl\.gz is not there.*--data DIR"):
        cases.load(tmp_path)
