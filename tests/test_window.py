"""The window, case by case. What holds for any text and any cut stands in window/test_properties.py."""

from __future__ import annotations

from typing import Literal

import pytest

from gateway.checks import Check
from gateway.rules import BROKEN, Rule
from gateway.types import Action, Side, View
from gateway.window import Window
from tests.sight import lanes, made, regex, words


class Fragile(Check):
    """Breaks on a text that holds `on`; until then it waits for it from the first X on."""

    type: Literal["fragile"] = "fragile"
    on: str = "crash"

    def look(self, view: View) -> tuple[list[tuple[int, int]], int]:
        if self.on in view.text:
            raise RuntimeError("a check is broken")
        place = view.text.find("X", view.begin)
        return [], len(view.text) if place < 0 or view.final else place


def fragile(action: Action = Action.BLOCK, on_error: Literal["block", "tag", "allow"] = "block") -> Rule:
    return Rule.model_construct(
        id="fragile", side=Side.OUTPUT, check=Fragile(), action=action, reason="R101", on_error=on_error
    )


def through(rules: list[Rule], *pieces: str, before: str = "") -> tuple[str, list[tuple[str, int, int]]]:
    """What leaves of a text that comes in pieces, and what was found."""
    window = Window(lanes(*rules), before)
    found = []
    for number, piece in enumerate(pieces, 1):
        window.feed(piece, final=number == len(pieces))
        found += [(finding.rule, finding.start, finding.end) for finding in window.taken()]
    return window.render(len(before), "".join(pieces)), sorted(found, key=lambda f: f[1:])


def test_without_rules_everything_leaves_at_once() -> None:
    window = Window(())
    window.feed("half a wo")
    assert window.frontier == 9
    assert not window.touches(0, 9)


def test_a_word_is_judged_when_it_has_ended() -> None:
    window = Window(lanes(words("bomb")))
    window.feed("a bo")
    assert window.frontier == 2
    window.feed("at ")
    assert window.frontier == 7


def test_a_word_without_end_is_judged_all_the_same() -> None:
    window = Window(lanes(words("bomb")))
    window.feed("x" * 100)
    assert window.frontier == 100


def test_each_chinese_character_is_a_word() -> None:
    window = Window(lanes(words("炸弹")))
    window.feed("你好炸")
    assert window.frontier == 2


def test_what_is_masked_leaves_in_other_words() -> None:
    assert through([words("bomb", action="mask")], "a bo", "mb, a b.o.", "m.b!")[0] == "a ***, a ***!"


def test_a_rule_says_what_stands_in_the_place_of_masked_text() -> None:
    assert through([words("bomb", action="mask", mask="[gone]")], "a bomb!")[0] == "a [gone]!"


def test_masks_that_overlap_are_one() -> None:
    rules = [regex("甲乙", "mask", name="a", mask="A"), regex("乙丙", "mask", name="b", mask="B")]
    assert through(rules, "x甲乙丙x")[0] == "xAx"


def test_masks_side_by_side_are_two() -> None:
    assert through([regex("甲乙", "mask")], "甲乙甲乙")[0] == "******"


def test_a_mask_over_several_pieces_stands_in_the_piece_where_it_begins() -> None:
    window = Window(lanes(words("bomb", action="mask")))
    window.feed("a bomb!", final=True)
    assert [window.render(0, "a b"), window.render(3, "om"), window.render(5, "b!")] == ["a ***", "", "!"]


def test_what_is_blocked_ends_the_text_where_it_begins() -> None:
    assert through([words("bomb")], "a b.o.", "m.b and more") == ("a ", [("words", 2, 9)])


def test_nothing_is_judged_behind_a_block() -> None:
    window = Window(lanes(words("bomb")))
    window.feed("bomb bomb ")
    window.feed("bomb ", final=True)
    assert [finding.start for finding in window.taken()] == [0]


def test_what_is_watched_is_told_and_leaves_as_it_came() -> None:
    for action in ("tag", "monitor"):
        assert through([words("bomb", action=action)], "a bomb!") == ("a bomb!", [("words", 2, 6)])


def test_the_findings_are_told_once() -> None:
    window = Window(lanes(words("bomb", action="tag")))
    window.feed("bomb ")
    assert len(window.taken()) == 1
    window.feed("x ", final=True)
    assert window.taken() == []


@pytest.mark.parametrize("pieces", [["bomb it"], ["bomb ", "it"], list("bomb it")])
def test_of_two_blocks_at_one_place_the_same_one_halts_for_any_cut(pieces: list[str]) -> None:
    window = Window(lanes(regex("bomb(?: now)?", name="one"), words("bomb", name="two")))
    once = Window(lanes(regex("bomb(?: now)?", name="one"), words("bomb", name="two")))
    once.feed("bomb it", final=True)
    for number, piece in enumerate(pieces, 1):
        window.feed(piece, final=number == len(pieces))
    assert window.halted == once.halted


@pytest.mark.parametrize("pieces", [["bomb it"], ["bomb ", "it"], list("bomb it")])
def test_of_two_masks_at_one_place_the_same_one_is_seen_for_any_cut(pieces: list[str]) -> None:
    rules = [regex("bomb(?: now)?", "mask", name="one", mask="1"), words("bomb", action="mask", name="two", mask="2")]
    assert through(rules, *pieces)[0] == through(rules, "bomb it")[0]


@pytest.mark.parametrize("pieces", [["甲乙甲乙甲乙甲好"], list("甲乙甲乙甲乙甲好")])
def test_a_rule_that_watches_does_not_put_one_that_acts_out_of_step(pieces: list[str]) -> None:
    rules = [regex("甲乙甲", "mask", name="acts"), regex("乙.{0,20}丙", "tag", name="watches")]
    assert through(rules, *pieces)[0] == "***乙***好"


def test_a_rule_that_watches_words_makes_no_text_wait() -> None:
    window = Window(lanes(words("炸弹", name="watches", action="tag"), words("毒药", name="acts")))
    window.feed("一个炸")
    assert window.frontier == 3


@pytest.mark.parametrize("pieces", [["x bomb y"], ["x ", "bomb ", "y"]])
def test_what_is_watched_before_a_halt_is_the_same_for_any_cut(pieces: list[str]) -> None:
    rules = [regex("x.{0,50}y", "tag", name="watches"), words("bomb")]
    assert through(rules, *pieces) == through(rules, "x bomb y")


@pytest.mark.parametrize("pieces", [["a" + "\u200b" * 20 + "bomb x"], ["a" + "\u200b" * 20, "bomb x"]])
def test_however_many_invisible_characters_stand_before_a_word_it_is_judged_the_same(pieces: list[str]) -> None:
    assert through([words("bomb")], *pieces)[1] == []


@pytest.mark.parametrize("size", [1, 7, 100, 900])
def test_a_loop_is_told_once_for_any_cut(size: int) -> None:
    rules = [made({"type": "repeat", "times": 3, "min_chars": 32}, "tag")]
    text = "ab " * 300
    assert through(rules, *(text[at : at + size] for at in range(0, len(text), size))) == through(rules, text)


@pytest.mark.parametrize("size", [1, 7, 128, 300])
def test_a_loop_is_cut_where_it_is_noticed_for_any_cut(size: int) -> None:
    rules = [made({"type": "repeat", "times": 3, "min_chars": 32}, "block")]
    text = "甲" * 300
    assert through(rules, *(text[at : at + size] for at in range(0, len(text), size))) == through(rules, text)


def test_a_loop_is_noticed_before_what_follows_has_left() -> None:
    window = Window(lanes(made({"type": "repeat", "times": 3, "min_chars": 32}, "block")))
    gone = 0
    for _ in range(600):
        window.feed("甲")
        if window.halted:
            assert gone <= window.halted.start
            return
        gone = window.frontier
    pytest.fail("the loop was never noticed")


def test_an_answer_that_must_fit_a_schema_waits_for_its_end() -> None:
    window = Window(lanes(made({"type": "schema", "json_schema": {"type": "array"}}, "block")))
    for piece in "[1, 2] [3, ":
        window.feed(piece)
        assert window.frontier == 0
    window.feed("4]", final=True)
    assert window.halted


def test_a_check_that_breaks_blocks_from_there_on() -> None:
    left, found = through([fragile()], "fine. ", "now crash ", "x")
    assert left == "fine. "
    assert [rule for rule, _, _ in found] == ["fragile"]


def test_a_broken_rule_s_reason_is_that_it_is_broken() -> None:
    window = Window(lanes(fragile()))
    window.feed("crash", final=True)
    assert window.halted
    assert window.halted.reason == BROKEN


def test_a_watching_rule_that_breaks_never_calls_back_what_has_left() -> None:
    window = Window(lanes(fragile(Action.TAG)))
    window.feed("it X is long gone. ")
    gone = window.frontier
    assert gone == 19
    window.feed("crash ")
    assert window.halted
    assert window.halted.start >= gone
    assert window.frontier >= gone


def test_a_broken_rule_may_be_let_pass_or_only_tagged_when_it_says_so() -> None:
    assert through([fragile(on_error="allow")], "crash ", "x") == ("crash x", [])
    left, found = through([fragile(on_error="tag")], "crash ", "x")
    assert left == "crash x"
    assert found


def test_a_text_that_goes_on_is_judged_with_what_has_left() -> None:
    assert through([words("bomb")], "mb x", before="a bo")[0] == ""
    assert through([words("bomb", action="mask")], "mb x", before="a bo")[0] == "*** x"
    assert through([words("bomb", action="mask")], "at x", before="a bo")[0] == "at x"


def test_what_was_found_in_what_has_left_is_not_found_again() -> None:
    assert through([words("bomb", action="tag")], " x bomb", before="a bomb") == (" x bomb", [("words", 9, 13)])


# What is cut back, and what is pardoned.

REWIND = regex("bomb", "rewind", name="rewinds")


def test_what_is_cut_back_ends_where_it_was_cut() -> None:
    window = Window(lanes(REWIND))
    window.feed("one two bomb three ")
    assert window.halted
    window.cut(7)
    assert (window.frontier, window.limit) == (7, 7)
    assert window.render(0, "one two bomb three ") == "one two"
    assert [window.render(0, "one "), window.render(4, "two bomb"), window.render(12, " three ")] == ["one ", "two", ""]
    assert [window.touches(0, 7), window.touches(4, 8), window.touches(12, 19)] == [False, True, True]
    assert window.last(3) == "two"


def test_masks_leave_as_far_as_they_begin_before_the_cut() -> None:
    window = Window(lanes(REWIND, words("secret", "hush", action="mask", name="mask")))
    window.feed("a secret, hush, bomb ")
    window.cut(9)
    assert window.render(0, "a secret, hush, bomb ") == "a ***,"
    assert window.render(10, "hush") == ""
    across = Window(lanes(REWIND, words("secret", action="mask", name="mask")))
    across.feed("a secret, bomb ")
    across.cut(5)
    assert across.render(0, "a secret, bomb ") == "a ***"


@pytest.mark.parametrize("action", [Action.TAG, Action.REFINE])
@pytest.mark.parametrize("final", [True, False])
def test_what_is_pardoned_counts_as_less_and_the_text_goes_on(action: Action, final: bool) -> None:
    window = Window(lanes(REWIND))
    window.feed("a bomb and more. ", final)
    window.pardon(action, final)
    assert (window.halted, window.frontier) == (None, 17)
    (finding,) = window.taken()
    assert (finding.rule, finding.action, finding.start, finding.text) == ("rewinds", action, 2, "bomb")
    window.feed("" if final else "a bomb ", final)
    assert bool(window.halted) is not final


def test_each_finding_is_pardoned_by_itself() -> None:
    window = Window(lanes(REWIND))
    window.feed("a bomb, a bomb ")
    window.pardon(Action.TAG, final=False)
    assert window.halted
    assert window.halted.start == 10


def test_what_blocks_behind_something_pardoned_still_blocks() -> None:
    window = Window(lanes(REWIND, words("gun", name="block")))
    window.feed("a bomb and a gun ")
    window.pardon(Action.TAG, final=False)
    assert window.halted
    assert (window.halted.rule, window.frontier) == ("block", 13)


@pytest.mark.parametrize(
    "check",
    [{"type": "length", "min_chars": 99}, {"type": "schema", "json_schema": {"type": "array"}}],
    ids=["length", "schema"],
)
def test_what_only_the_end_tells_is_pardoned_once_and_for_all(check: dict[str, object]) -> None:
    window = Window(lanes(made(check, "rewind")))
    window.feed("a text ")
    window.feed("", final=True)
    window.pardon(Action.TAG, final=True)
    assert (window.halted, window.frontier) == (None, 7)
    assert [finding.action for finding in window.taken()] == [Action.TAG]


def test_what_watching_rules_saw_of_the_cut_text_is_forgotten_with_the_cut() -> None:
    rules = [REWIND, made({"type": "length", "min_chars": 9}, "tag", name="short"), regex("a .{0,9}b", "tag", name="a")]
    window = Window(lanes(*rules))
    window.feed("a bomb, a club", final=True)
    assert "short" in {finding.rule for finding in window.seen}
    window.pardon(Action.TAG, final=True)
    assert sorted((finding.rule, finding.start) for finding in window.taken()) == [("a", 0), ("a", 8), ("rewinds", 2)]
