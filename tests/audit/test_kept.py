"""The words that there is room for."""

from __future__ import annotations

from gateway.audit._kept import LEFT_OUT, Kept, cut, kept
from gateway.types import Text

ASKED = (Text(("messages", 0, "content"), "system", "Be brief."), Text(("messages", 1, "content"), "user", "I am Li."))


def test_all_of_it_is_kept_if_there_is_room() -> None:
    words = kept(ASKED, {0: "yes"}, 100)
    assert words == Kept([("system", "Be brief."), ("user", "I am Li.")], {0: "yes"})


def test_of_too_many_words_the_answer_and_the_latest_question_come_first() -> None:
    assert kept(ASKED, {0: "yes"}, 10) == Kept([("user", "I am Li" + LEFT_OUT)], {0: "yes"}, 1)


def test_answers_come_in_their_order_as_far_as_there_is_room() -> None:
    assert kept(ASKED, {1: "second", 0: "first"}, 8) == Kept([], {0: "first", 1: "sec" + LEFT_OUT}, 2)


def test_texts_that_are_parts_of_others_are_told_once() -> None:
    whole = Text(("messages", 0, "content"), "user", "a\nb", whole=False)
    parts = [Text(("messages", 0, "content", n, "text"), "user", word) for n, word in enumerate("ab")]
    assert kept((*parts, whole), {}, 100).asked == [("user", "a"), ("user", "b")]


def test_what_is_cut_says_so() -> None:
    assert [cut(text, 2) for text in ("", "ab", "abc")] == ["", "ab", "ab" + LEFT_OUT]
