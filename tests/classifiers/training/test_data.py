"""What is read of the data folder; and what a user is told who has none."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

import pytest

from classifiers.training import data
from tests.classifiers.folder import write_data


def test_pairs_of_both_languages_are_read(tmp_path: Path) -> None:
    write_data(tmp_path)
    pairs = data.pairs(tmp_path)
    assert {pair.set for pair in pairs} == {"shop.zh", "shop.en"}
    assert {pair.split for pair in pairs} == {"train", "dev", "test"}
    assert {type(pair.same) for pair in pairs} == {bool}


def test_sentences_are_of_the_training_split_each_once_and_neither_long_nor_short(tmp_path: Path) -> None:
    write_data(tmp_path)
    assert data.sentences(tmp_path) == [
        "店铺在哪里？",
        "本店开在城东。",
        "Where is the shop?",
        "The shop is in the east.",
    ]


def test_sources_are_named_with_licence_and_rows(tmp_path: Path) -> None:
    write_data(tmp_path)
    assert data.Source("docs: guide (zh)", "CC0", 1) in data.sources(tmp_path)


def test_the_hash_changes_with_the_data(tmp_path: Path) -> None:
    write_data(tmp_path)
    before = data.digest(tmp_path)
    write_data(tmp_path, extra="another row")
    assert data.digest(tmp_path) != before


def test_a_folder_that_is_not_there_is_told_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"pairs\.zh\.jsonl\.gz is not there.*--data DIR"):
        data.pairs(tmp_path)


def test_the_option_has_a_default() -> None:
    parser = ArgumentParser()
    data.option(parser)
    assert parser.parse_args([]).data == data.DEFAULT
    assert parser.parse_args(["--data", "x"]).data == Path("x")
