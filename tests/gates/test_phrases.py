"""Whole phrases that begin questions and ask."""

from __future__ import annotations

import pytest

from gateway.gates import _phrases
from gateway.gates._rows import key, rows, words
from tests.gates.questions import differs


@pytest.mark.parametrize("text", [_phrases.WH, _phrases.WHETHER])
def test_no_phrase_asks_two_things(text: str) -> None:
    said = {(key(word), side[0]) for sides in rows(text) for side in sides for word in side}
    assert len(dict(said)) == len(said)


def test_an_english_frame_says_nothing() -> None:
    said = {
        frame: differs(f"{frame} where the library is", "where is the library") for frame in words(_phrases.FRAMES_EN)
    }
    assert {frame: what for frame, what in said.items() if what} == {}


def test_a_chinese_frame_says_nothing() -> None:
    said = {frame: differs(f"{frame}图书馆在哪里", "图书馆在哪里") for frame in words(_phrases.FRAMES_ZH)}
    assert {frame: what for frame, what in said.items() if what} == {}


@pytest.mark.parametrize("aspect", _phrases.ASPECTS.split())
def test_an_aspect_is_asked_for_in_three_ways(aspect: str) -> None:
    first = f"这个药有什么{aspect}"
    assert differs(first, f"这个药有哪些{aspect}") == ""
    assert differs(first, f"这个药的{aspect}是什么") == ""
    assert differs(first, f"这个药的{aspect}有哪些") == ""
