"""One form for the forms of an English word."""

from __future__ import annotations

import pytest

from gateway.gates._lemma import VERBS, lemma


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("cards", "card"),
        ("policies", "policy"),
        ("taxes", "tax"),
        ("children", "child"),
        ("changing", "change"),
        ("planning", "plan"),
        ("paying", "pay"),
        ("dying", "die"),
        ("declined", "decline~"),
        ("cancelled", "cancel~"),
        ("tried", "try~"),
        ("stolen", "steal~"),
        ("won", "win~"),
    ],
)
def test_forms_of_one_word_are_one(word: str, wanted: str) -> None:
    assert lemma(word) == wanted


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("news", "new"),
        ("parking", "park"),
        ("training", "train"),
        ("building", "build"),
        ("glasses", "glass"),
        ("savings", "saving"),
        ("plane", "plan"),
        ("paid", "pay"),
        ("wing", "w"),
        ("speed", "spe"),
    ],
)
def test_other_words_stay_apart(word: str, other: str) -> None:
    assert lemma(word) != lemma(other)


def test_a_verb_is_its_own_lemma() -> None:
    assert {verb: lemma(verb) for verb in VERBS if lemma(verb) != verb} == {}
