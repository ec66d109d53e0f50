"""The window's promises, for any rules, any text and any cut of it.

A text arrives in pieces (as events do) and leaves in the same pieces, each once its end may leave: as in the relay.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import cache
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.judge import Lane
from gateway.rules import Rule
from gateway.types import Action, Finding, Verdict
from gateway.window import CONTEXT, Window
from tests.sight import acting, lanes, made, regex, words

# What a rule looks for, and texts that it finds or nearly finds.
POOL: Sequence[tuple[Rule, Sequence[str]]] = (
    (regex("甲乙甲", name="odd"), ["甲乙甲", "甲乙", "甲乙甲乙甲"]),
    (regex("乙.{0,6}丙", name="far"), ["乙", "乙xx丙", "丙"]),
    (regex(r"\bab{1,3}c?\b", name="latin"), ["ab", "abbc", "abx", "xab"]),
    (regex(r"bomb(?: now)?", name="longer"), ["bomb", "bomb now", "bomb no"]),
    (regex(r"(?m)^丙.{0,3}$", name="line"), ["\n丙x\n", "丙", "\n"]),
    (regex(r"\A.{0,4}甲|乙\Z", name="ends"), ["甲", "乙"]),
    (words("bomb", "炸弹", "甲乙", name="words"), ["bomb", "b.o.m.b", "炸 弹", "b\u200bomb", "carbomb", "炸"]),
    (words("bo", "弹药", "kill you", "now", name="more"), ["弹药", "kill you", "b o", "k i l", "now"]),
    (made({"type": "length", "max_chars": 20}, name="long"), ["xxxxx", "甲乙丙丁"]),
    (made({"type": "length", "min_chars": 8}, name="short"), ["x"]),
    (made({"type": "schema", "json_schema": {"type": "array"}}, name="json"), ["[1, 2]", "[", "]"]),
    (made({"type": "pii"}, name="pii"), ["4111 1111 1111 1111", "a@b.io", "13812345678", "4111"]),
    (made({"type": "repeat", "times": 3, "min_chars": 32}, name="loop"), ["ab" * 50, "甲" * 150]),
)
UNANCHORED = [n for n, (rule, _) in enumerate(POOL) if rule.id not in ("ends", "long", "short", "json", "loop")]
ACTIONS = (Action.BLOCK, Action.MASK, Action.TAG, Action.MONITOR)
NOISE = st.text(st.sampled_from("abcx1甲乙丙炸 .\n🙂\u0301\u200b\0"), max_size=4)


@cache
def built(chosen: tuple[tuple[int, Action], ...]) -> Sequence[Lane]:
    rules = [acting(POOL[number][0], action) for number, action in chosen]
    return lanes(*(rule.model_copy(update={"mask": f"<{rule.id}>"}) for rule in rules))


class Case(NamedTuple):
    """Rules, and a text in pieces."""

    rules: tuple[tuple[int, Action], ...]
    pieces: list[str]

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def lanes(self) -> Sequence[Lane]:
        return built(self.rules)


def cut(text: str, places: Sequence[int]) -> list[str]:
    edges = [0, *sorted(place for place in places if place < len(text)), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(edges)]


@st.composite
def cases(draw: st.DrawFn, actions: Sequence[Action] = ACTIONS, pool: Sequence[int] = range(len(POOL))) -> Case:
    numbers = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=4, unique=True))
    rules = tuple((number, draw(st.sampled_from(actions))) for number in sorted(numbers))
    known = [text for number in numbers for text in POOL[number][1]]
    text = "".join(draw(st.lists(st.one_of(st.sampled_from(known), st.sampled_from(known), NOISE), max_size=8)))
    places = draw(st.one_of(st.just(list(range(len(text)))), st.lists(st.integers(0, len(text)), max_size=8)))
    return Case(rules, cut(text, places))


class Step(NamedTuple):
    """What a window says after one piece."""

    frontier: int
    left: str
    findings: list[Finding]


def steps(window: Window, pieces: Sequence[str]) -> Iterator[Step]:
    """Feed the pieces; each leaves once its end may leave, or something has been halted."""
    waiting: list[tuple[int, str]] = []
    left, place = "", 0
    for number, piece in enumerate(pieces, 1):
        waiting.append((place, piece))
        place += len(piece)
        window.feed(piece, final=number == len(pieces))
        while waiting and (waiting[0][0] + len(waiting[0][1]) <= window.frontier or window.halted):
            start, text = waiting.pop(0)
            touched = window.touches(start, start + len(text))
            rendered = window.render(start, text)
            assert touched or rendered == text
            left += rendered
        yield Step(window.frontier, left, window.taken())


def at_once(case: Case) -> tuple[Window, Step]:
    window = Window(case.lanes)
    (step,) = steps(window, [case.text])
    return window, step


def acts(finding: Finding) -> bool:
    return finding.verdict >= Verdict.MASK


def in_order(findings: Sequence[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda f: (f.start, f.end, f.rule))


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(cases())
def test_what_leaves_and_what_halts_is_the_same_for_any_cut(case: Case) -> None:
    whole, once = at_once(case)
    window = Window(case.lanes)
    *_, last = steps(window, case.pieces)
    assert window.halted == whole.halted
    assert last.frontier == once.frontier
    assert last.left == once.left


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(cases())
def test_what_acting_rules_find_is_the_same_for_any_cut(case: Case) -> None:
    _, once = at_once(case)
    found = [finding for step in steps(Window(case.lanes), case.pieces) for finding in step.findings]
    assert in_order(list(filter(acts, found))) == in_order(list(filter(acts, once.findings)))


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(cases())
def test_what_is_found_is_the_same_for_any_cut(case: Case) -> None:
    _, once = at_once(case)
    found = [finding for step in steps(Window(case.lanes), case.pieces) for finding in step.findings]
    assert in_order(found) == in_order(once.findings)


@settings(max_examples=200, deadline=None)
@given(cases())
def test_the_frontier_never_falls_and_what_has_left_stays_as_it_was(case: Case) -> None:
    _, once = at_once(case)
    frontier, left = 0, ""
    for step in steps(Window(case.lanes), case.pieces):
        assert step.frontier >= frontier
        assert step.left.startswith(left)
        frontier, left = step.frontier, step.left
        assert once.left.startswith(left)


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(cases())
def test_no_finding_that_acts_begins_in_text_that_had_left_before_it_was_known(case: Case) -> None:
    _, once = at_once(case)
    window, frontier, known = Window(case.lanes), 0, []
    for step in steps(window, case.pieces):
        known += step.findings
        late = [f for f in step.findings if acts(f) and f.start < frontier]
        assert not late
        frontier = step.frontier
        missed = [f for f in once.findings if acts(f) and f.start < frontier and f not in known]
        assert not missed


@settings(max_examples=200, deadline=None)
@given(cases(actions=(Action.TAG, Action.MONITOR)))
def test_rules_that_only_watch_hold_nothing_back_but_a_word_that_has_not_ended(case: Case) -> None:
    said = ""
    for piece, step in zip(case.pieces, steps(Window(case.lanes), case.pieces), strict=True):
        said += piece
        word = len(said) - len(said.rstrip("0123456789abcdefghijklmnopqrstuvwxyz"))
        assert step.frontier >= len(said) - word
        assert case.text.startswith(step.left)


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(cases(), st.lists(st.integers(0, len(POOL) - 1), min_size=1, max_size=3, unique=True))
def test_watching_changes_nothing_of_what_leaves_and_when(case: Case, watching: list[int]) -> None:
    own = {number for number, _ in case.rules}
    more = tuple((number, Action.TAG) for number in watching if number not in own)
    mixed = built(tuple(sorted(case.rules + more)))
    alone = [(step.frontier, step.left) for step in steps(Window(case.lanes), case.pieces)]
    assert [(step.frontier, step.left) for step in steps(Window(mixed), case.pieces)] == alone


@settings(max_examples=60, deadline=None)
@given(cases(pool=UNANCHORED), st.integers(CONTEXT, 3 * CONTEXT))
def test_a_long_text_before_changes_nothing(case: Case, longer: int) -> None:
    """What was judged long ago is forgotten, and nobody notices."""
    before = "好。" * (longer // 2) + "\n"
    far = list(steps(Window(case.lanes), [*cut(before, range(0, len(before), 100)), *case.pieces]))
    near = list(steps(Window(case.lanes), ["\n", *case.pieces]))
    assert far[-1].left == before + near[-1].left.removeprefix("\n")
    places = [[(f.rule, f.start, f.end) for step in way for f in in_order(step.findings)] for way in (far, near)]
    moved = [(rule, start - len(before) + 1, end - len(before) + 1) for rule, start, end in places[0]]
    assert sorted(moved) == sorted(places[1])


# A window holds back nothing in vain: looked for by force, over all short texts of a small alphabet.

TIGHT: dict[str, tuple[str, Sequence[Rule]]] = {
    "one": ("甲乙", [regex("甲乙甲", name="a")]),
    "two": ("甲乙", [regex("甲甲乙", name="a"), regex("乙甲乙", name="b")]),
    "maybe": ("甲乙丙", [regex("甲乙?丙", name="a")]),
    "many": ("甲乙", [regex("(?:甲乙){2}", name="a")]),
    "any": ("甲乙", [regex("甲.{1,2}乙", name="a")]),
    "either": ("甲乙丙", [regex("甲(?:乙|丙丙)丙", name="a")]),
    "never": ("甲乙丙", [regex("(?:甲乙){0}丙丙", name="a")]),
    "end": ("甲乙", [regex(r"甲\Z", name="a")]),
    "begin": ("甲乙", [regex(r"\A甲乙", name="a")]),
    "line": ("甲\n", [regex(r"(?m)^甲甲$", name="a")]),
    "words": ("甲乙.", [words("甲乙", "乙乙甲", name="a")]),
    "latin": ("b. ", [words("bb", name="a")]),
    "phrase": ("k. y", [words("k y", name="a")]),
    "mixed": ("b甲.", [words("甲b", name="a")]),
    "length": ("甲乙", [made({"type": "length", "max_chars": 3, "min_chars": 2}, name="a")]),
}


def could_begin(place: int, text: str, alphabet: str, rules: Sequence[Lane], most: int) -> bool:
    """Whether a finding begins at `place` in the text, or in some longer one."""
    for length in range(most + 1):
        for more in itertools.product(alphabet, repeat=length):
            window = Window(rules)
            window.feed(text + "".join(more), final=True)
            if any(finding.start == place for finding in window.taken()):
                return True
    return False


@pytest.mark.parametrize("name", sorted(TIGHT))
@pytest.mark.parametrize("action", [Action.BLOCK, Action.MASK])
def test_text_that_no_rule_could_still_need_has_left(name: str, action: Action) -> None:
    alphabet, given_rules = TIGHT[name]
    rules = lanes(*(acting(rule, action) for rule in given_rules))
    held: dict[str, int] = {}
    for length in range(1, 5):
        for letters in itertools.product(alphabet, repeat=length):
            text = "".join(letters)
            window = Window(rules)
            window.feed(text)
            ended = text.rstrip("bky")  # a word that has not ended is not judged yet
            if window.halted is None and window.frontier < len(ended):
                held[ended] = window.frontier
    in_vain = [text for text, place in held.items() if not could_begin(place, text, alphabet, rules, 4)]
    assert in_vain == []
