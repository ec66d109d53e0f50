"""A window that lets text go from anchor to anchor. That it is so for any cut of a stream: window/test_repaired.py."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from gateway.anchored import Anchored
from gateway.anchors import FRONTIER, AnchorSpec, Cut
from gateway.rules import Rule
from gateway.types import NEVER, Action
from tests.anchors.sight import kind
from tests.sight import lanes, made, regex, words

WORD, SENTENCE = kind("word"), kind("sentence")
REWIND = regex("guaranteed|稳赚", "rewind", name="rewinds")
MASK = words("secret", "机密", action="mask", name="mask")


def window(*rules: Rule, anchors: Sequence[AnchorSpec] = (SENTENCE,), past: str = "", before: str = "") -> Anchored:
    return Anchored(lanes(*(rules or (REWIND,))), anchors, past, before)


def frontiers(one: Anchored, *texts: str) -> list[int]:
    """Where the frontier stands after each of these texts, of which the last is none."""
    told = []
    for text in texts:
        one.feed(text)
        told.append(one.frontier)
    return told


@pytest.mark.parametrize(
    ("texts", "places"),
    [
        (["It is one. ", "And", " two? Th", "ree"], [0, 10, 19, 19]),
        (["这是一句。", "又一句", "！第三", "句"], [0, 5, 9, 9]),
        (["No end yet", " of this", " at all"], [0, 0, 0]),
    ],
)
def test_text_leaves_sentence_by_sentence(texts: list[str], places: list[int]) -> None:
    assert frontiers(window(), *texts) == places


def test_word_by_word_a_text_waits_for_no_more_than_the_begin_of_the_next_word() -> None:
    assert frontiers(window(anchors=[WORD]), "It", " is", " one.", " 一个", "词") == [0, 2, 5, 12, 13]


def test_no_text_leaves_that_a_rule_could_still_need() -> None:
    rule = regex("one two three", "rewind")
    assert frontiers(window(rule, anchors=[WORD]), "zero one", " two", " four ") == [4, 4, 17]


def test_at_its_end_all_of_a_text_leaves() -> None:
    one = window()
    one.feed("No end", final=False)
    one.feed(" at all", final=True)
    assert (one.frontier, one.halted, one.limit) == (13, None, NEVER)


@pytest.mark.parametrize(
    ("anchors", "text", "cut"),
    [
        ([SENTENCE], "One. It is guaranteed to work.", Cut(4, "sentence")),
        ([WORD], "One. It is guaranteed to work.", Cut(10, "word")),
        ([SENTENCE, WORD], "One. It is guaranteed", Cut(10, "word")),
        ([SENTENCE], "第一。它稳赚不赔。", Cut(3, "sentence")),
        ([WORD], "第一。它稳赚不赔。", Cut(4, "word")),
        ([SENTENCE], "It is guaranteed.", Cut(0, FRONTIER)),
    ],
)
@pytest.mark.parametrize("final", [False, True])
def test_it_is_cut_back_to_the_last_anchor_before_what_was_found(
    anchors: Sequence[AnchorSpec], text: str, cut: Cut, final: bool
) -> None:
    one = window(anchors=anchors)
    one.feed(text, final)
    if one.halted is None:  # its last word has not ended
        one.feed(" ")
    assert one.halted
    assert one.rewound() == cut
    assert (one.frontier, one.limit) == (cut.position, cut.position)
    assert not one.halted
    assert one.render(0, text) == text[: cut.position]
    assert one.touches(cut.position, cut.position + 1)
    assert not one.touches(0, cut.position)
    assert one.last(99) == text[: cut.position]


def test_it_is_never_cut_back_to_before_what_has_left() -> None:
    one = window(anchors=[SENTENCE])
    one.feed("One. Two and three ")
    assert one.frontier == 4
    one.feed("guaranteed ")
    assert one.rewound() == Cut(4, "sentence")


def test_text_without_an_anchor_is_cut_back_to_what_has_left() -> None:
    one = window(anchors=[kind("code")])
    one.feed("It is guaranteed ")
    assert one.rewound() == Cut(0, FRONTIER)


def test_masks_behind_the_cut_are_not_to_be_seen() -> None:
    one = window(REWIND, MASK)
    one.feed("A secret. My secret is guaranteed ")
    one.rewound()
    assert one.render(0, "A secret. My secret is guaranteed ") == "A ***."
    assert one.render(2, "secret. My secret is") == "***."


@pytest.mark.parametrize("pieces", [["A secret. My secret is guaranteed "], ["A secret. My secret is ", "guaranteed "]])
def test_what_was_found_in_text_that_is_cut_away_is_not_told(pieces: list[str]) -> None:
    one = window(REWIND, MASK, words("my", "is", action="tag", name="tag"))
    told = []
    for piece in pieces:
        one.feed(piece)
        told += one.taken()
    one.rewound()
    told += one.taken()
    assert [(finding.rule, finding.start) for finding in told] == [("mask", 2), ("rewinds", 23)]
    assert one.taken() == []


def test_what_was_found_is_told_once_its_text_has_left() -> None:
    one = window(REWIND, MASK)
    one.feed("A secret thing ")
    assert one.taken() == []
    one.feed("it is. And")
    assert [finding.start for finding in one.taken()] == [2]
    one.feed(" 机密", final=True)
    assert [finding.rule for finding in one.taken()] == ["mask"]


def test_a_rule_that_blocks_ends_it_where_it_stands() -> None:
    one = window(REWIND, words("bomb", name="block"))
    one.feed("One. And a bomb ")
    assert one.frontier == 0
    one.stands()
    assert one.frontier == 11
    assert one.render(0, "One. And a bomb ") == "One. And a "
    assert [finding.rule for finding in one.taken()] == ["block"]


@pytest.mark.parametrize("final", [False, True])
def test_what_is_pardoned_goes_on(final: bool) -> None:
    one = window()
    one.feed("One. It is guaranteed. Yes ", final)
    one.pardon(Action.TAG, final)
    assert one.halted is None
    assert one.frontier == (27 if final else 22)
    assert [(finding.rule, finding.action) for finding in one.taken()] == [("rewinds", Action.TAG)]


def test_a_text_that_goes_on_counts_from_its_own_begin_and_has_the_anchors_of_all() -> None:
    """A full stop at the end of what was said becomes an end of a sentence with what follows."""
    one = window(past="One. Two.", before="Two.")
    assert one.frontier == 4
    one.feed(" Three is guaranteed ")
    assert one.rewound() == Cut(4, "sentence")
    again = window(past="One. Two", before="Two")
    again.feed(". Three is guaranteed ")
    assert again.rewound() == Cut(4, "sentence")


def test_what_runs_into_a_text_that_goes_on_is_found() -> None:
    one = window(past="It is guaran", before="guaran")
    one.feed("teed. Yes ")
    assert one.halted
    assert one.rewound() == Cut(6, FRONTIER)


def test_a_check_of_the_whole_text_has_its_say_at_the_end() -> None:
    one = window(made({"type": "length", "min_chars": 99}, "rewind", name="short"))
    one.feed("One. Two. Three", final=False)
    one.feed("", final=True)
    assert one.halted
    one.pardon(Action.TAG, final=True)
    assert not one.halted
    assert one.frontier == 15
    assert [finding.action for finding in one.taken()] == [Action.TAG]
