"""The words of a page are there in both languages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gateway.audit import page
from gateway.audit._texts import TEXTS
from gateway.types import Outcome, Verdict


def test_both_languages_say_the_same_things() -> None:
    english, chinese = TEXTS["en"], TEXTS["zh"]
    assert english.keys() == chinese.keys()
    for key, words in english.items():
        assert set(re.findall(r"\{\d\}", words)) == set(re.findall(r"\{\d\}", chinese[key])), key


def test_chinese_words_are_chinese() -> None:
    plain = {key for key, words in TEXTS["zh"].items() if not re.search("[\u4e00-\u9fff]", words)}
    assert plain == {"and"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_verdict_and_outcome_has_its_words(language: str) -> None:
    words = TEXTS[language]  # type: ignore[index]
    assert {f"v_{verdict.word}" for verdict in Verdict} <= words.keys()
    assert {f"s_refined_{one.value}" for one in Outcome if one is not Outcome.UNTOUCHED} <= words.keys()


def test_all_that_the_template_says_is_there() -> None:
    template = (Path(page.__file__).parent / "page.html").read_text(encoding="utf-8")
    named = set(re.findall(r"words\.(\w+)", template))
    assert named
    assert named <= TEXTS["en"].keys()
