"""What is trained on holds nothing of what judges."""

from __future__ import annotations

from pathlib import Path

from classifiers.training import data
from classifiers.training.corpus import gather, joined
from classifiers.training.data import Pair
from tests.classifiers.folder import write_data


def test_only_the_training_split_is_there(tmp_path: Path) -> None:
    write_data(tmp_path)
    pairs = data.pairs(tmp_path)
    corpus = gather(pairs, data.sentences(tmp_path))
    held = {text for pair in pairs if pair.split != "train" for text in (pair.a, pair.b)}
    assert held.isdisjoint(corpus.texts)
    assert len(set(corpus.texts)) == len(corpus.texts) == len(corpus.groups)
    assert [corpus.texts[place] for place in corpus.general] == data.sentences(tmp_path)


def test_a_text_that_stands_in_dev_or_test_too_is_left_out() -> None:
    train = [Pair("a", "b", True, "k", "s.en", "train"), Pair("c", "d", True, "k", "s.en", "train")]
    corpus = gather([*train, Pair("b", "x", True, "k", "s.en", "test")], ["x", "y"])
    assert corpus.texts == ["c", "d", "y"]
    assert corpus.sets["s.en"].same == [(0, 1)]


def test_a_set_can_be_left_out_as_if_it_did_not_exist() -> None:
    pairs = [Pair("a", "b", True, "k", "s.en", "train"), Pair("c", "d", False, "k", "t.en", "train")]
    corpus = gather(pairs, ["a", "z"], frozenset({"s.en"}))
    assert corpus.texts == ["c", "d", "z"]
    assert corpus.sets.keys() == {"t.en"}


def test_texts_that_ask_the_same_are_one_group() -> None:
    pairs = [Pair("a", "b", True, "k", "s.en", "train"), Pair("b", "c", True, "k", "s.en", "train")]
    corpus = gather([*pairs, Pair("a", "d", False, "k", "s.en", "train")], ["e"])
    assert corpus.groups == [0, 0, 0, 3, 4]


def test_groups_are_joined_over_any_number_of_edges() -> None:
    assert joined(6, [(4, 5), (3, 4), (0, 1)]) == [0, 0, 2, 3, 3, 3]
