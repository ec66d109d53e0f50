"""Words stand alone where their language has spaces; innocent look-alikes and mentions count for nothing."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from gateway.tiers._patterns import Finder, Phrases


def count(phrases: Phrases, text: str, *, mentions: bool = True) -> int:
    return len(list(Finder([phrases], mentions=mentions).found(text.encode("utf-8", "replace"))))


@pytest.mark.parametrize(
    ("word", "text", "times"),
    [
        ("may", "May it may be, said the mayor of dismay", 2),
        ("可能", "尽可能不可能", 2),
        ("I'm not sure", "I’m  not\nsure, and I'm not sure", 2),
        ("A股", "a股与A股", 2),
        ("may", "这may好", 1),
        ("a.b", "axb a.b", 1),
        ("etc.", "etc. etc.)", 2),
        ("可能", "\ud800可能", 1),
    ],
)
def test_words_are_found_as_they_may_be_written(word: str, text: str, times: int) -> None:
    assert count(Phrases(words=(word,)), text) == times


def test_innocent_text_eats_what_it_covers_and_nothing_else() -> None:
    phrases = Phrases(words=("可能",), innocent=("尽可能", "可能性"))
    assert count(phrases, "尽可能提高可能性") == 0
    assert count(phrases, "尽可能提高，可能不行") == 1


def test_a_mention_is_no_use() -> None:
    phrases = Phrases(words=("maybe", "大概"))
    said = "“大概”和\"maybe\"是两个词；他大概说'maybe, yes'"
    assert count(phrases, said) == 4
    assert count(phrases, said, mentions=False) == 2


def test_nothing_finds_nothing() -> None:
    assert count(Phrases(), "a") == 0


def test_both_languages_are_read_at_once() -> None:
    finder = Finder([Phrases(words=("大概",)), Phrases(patterns=(r"\bprob(?:ably)?\b",))])
    assert list(finder.found("大概 PROB.".encode())) == ["大概".encode(), b"PROB"]


@pytest.mark.parametrize("pattern", ["a*", "a|", "(", r"(?<=a)b", r"(a)\1", "a{2000}", "^$"])
def test_a_pattern_that_is_none_or_matches_nothing_is_refused(pattern: str) -> None:
    with pytest.raises(ValidationError, match=r"RE2 can't take|match the empty text"):
        Phrases(patterns=(pattern,))
    with pytest.raises(ValidationError):
        Phrases(innocent=(pattern,))


def test_a_pattern_that_ruins_a_backtracking_engine_is_read_in_passing() -> None:
    assert count(Phrases(patterns=("(?:a+)+b",)), "a" * 20_000) == 0
