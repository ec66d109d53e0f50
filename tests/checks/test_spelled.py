"""Words spelled out."""

from __future__ import annotations

import pytest

from gateway.checks import _spelled


@pytest.mark.parametrize("word", ["bomb", "炸弹", "ok"])
def test_a_word_of_one_script_can_be_spelled_out(word: str) -> None:
    assert _spelled.can_be(word)


@pytest.mark.parametrize("word", ["b", "kill you", "vpn翻墙", "a-b"])
def test_no_other_can(word: str) -> None:
    assert not _spelled.can_be(word)


@pytest.mark.parametrize(("text", "solid"), [("a b.o.m.b!", "abomb"), ("一个炸 弹，好", "一个炸弹"), ("x-y--z", "xyz")])
def test_the_separators_of_what_is_spelled_out_are_gone(text: str, solid: str) -> None:
    ((found, places),) = _spelled.runs(text)
    assert found == solid
    assert "".join(text[place] for place in places) == solid


@pytest.mark.parametrize("text", ["a bomb", "一个炸弹", "as sign", "x---y", "I am a man", "炸，弹"])
def test_what_is_written_as_always_is_not_spelled_out(text: str) -> None:
    assert not list(_spelled.runs(text))


@pytest.mark.parametrize("text", ["b o m b", "这是炸 弹", "x.y"])
def test_the_quick_look_misses_nothing(text: str) -> None:
    assert _spelled.somewhere(text)


def test_the_end_of_a_text_may_be_the_middle_of_a_word() -> None:
    tail = _spelled.tail("he said b.o.", 0)
    assert tail is not None
    assert tail.text == "bo"
    assert _spelled.tail("he said bo", 0) is None
