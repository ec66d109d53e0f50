"""The laws of the room, for any kinds, any text and any way it came."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.anchors import FRONTIER, REACH, AnchorSpec, Cut, Trail, choose
from gateway.plug import plugs
from tests.anchors.sight import kind

KINDS: Sequence[AnchorSpec] = (
    kind("sentence"),
    kind("word"),
    kind("markdown"),
    kind("json", mode="word"),
    kind("code"),
    kind("entity", patterns=[r"ORD-\d{2,6}"], words=["白金卡", "Reg. E"]),
)
# What a reader sees as one, so that only the seams between them may be cut.
ATOMS = [
    *'ab1 。.!\n,*`|[]({"-#',
    *[
        "好",
        "白金卡",
        "Reg. E",
        "ORD-1234",
        "e\u0301",
        "\r\n",
        "👍🏽",
        "👨\u200d👩",
        "🇨🇳",
        ". ",
        "。",
        "**",
        "\n```\n",
        "```json\n",
    ],
    *['{"a": 1, ', '"b. c", ', "]", "}", "\n- ", "\n1. ", "\n| x | y |\n", "\n\n", "x = f(1)\n", "\ud83d\ude00"],
]
TERMS = ("白金卡", "Reg. E", "ORD-1234")
CHOSEN = st.lists(st.sampled_from(KINDS), min_size=1, max_size=4, unique_by=lambda anchor: anchor.type)


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[AnchorSpec], list[str], int, int]:
    atoms = draw(st.lists(st.sampled_from(ATOMS), max_size=30))
    length = len("".join(atoms))
    upto = draw(st.integers(0, length))
    return draw(CHOSEN), atoms, upto, draw(st.integers(0, upto))


def seams(atoms: list[str]) -> set[int]:
    """Where one character may end; text of plain characters has a seam everywhere."""
    places, at = {0}, 0
    for atom in atoms:
        plain = atom.isascii() and atom != "\r\n"
        places |= (
            set(range(at, at + len(atom) + 1)) if plain or len(atom) == 1 or atom in TERMS else {at, at + len(atom)}
        )
        at += len(atom)
    return places


@settings(max_examples=400)
@given(cases())
def test_a_cut_splits_nothing_and_lies_between_frontier_and_finding(
    case: tuple[list[AnchorSpec], list[str], int, int],
) -> None:
    anchors, atoms, upto, frontier = case
    text = "".join(atoms)
    position, name = choose(anchors, text, upto, frontier)
    assert frontier <= position <= upto
    if name == FRONTIER:
        assert position == frontier
        return
    assert position in seams(atoms)
    assert text[position - 1 : position + 1] != "\r\n"
    if any(anchor.type == "entity" for anchor in anchors):
        for term in TERMS:
            assert all(text[position - inner :].find(term) != 0 or inner > position for inner in range(1, len(term)))


@settings(max_examples=200)
@given(cases(), st.integers(1, 9))
def test_it_makes_no_difference_how_a_text_came(case: tuple[list[AnchorSpec], list[str], int, int], size: int) -> None:
    anchors, atoms, upto, frontier = case
    text = "".join(atoms)
    trail = Trail(anchors)
    for start in range(0, len(text), size):
        trail.feed(text[start : start + size])
        trail.forget(min(frontier, start))
    assert trail.cut(upto, frontier) == choose(anchors, text, upto, frontier)


@settings(max_examples=300)
@given(cases())
def test_text_that_follows_takes_no_anchor_back(case: tuple[list[AnchorSpec], list[str], int, int]) -> None:
    """Terms aside: that one has begun can show only when it is whole."""
    anchors, atoms, upto, frontier = case
    anchors = [anchor for anchor in anchors if anchor.type != "entity"]
    text = "".join(atoms)
    cut = choose(anchors, text[:upto], upto, frontier)
    if cut.kind != FRONTIER:
        again = choose(anchors, text, cut.position, cut.position)
        assert again.position == cut.position
        assert again.kind != FRONTIER


@pytest.mark.parametrize("anchor", KINDS, ids=lambda anchor: anchor.type)
def test_each_kind_alone_tells_its_last_anchor(anchor: AnchorSpec) -> None:
    text = 'Good. Fine.\n\n- 好。对\n{"a": 1}\n```\nx\n```\n白金卡 end'
    found = anchor.anchors(text, 0, len(text))
    assert all(before < behind for before, behind in pairwise(found))
    assert anchor.last(text, len(text), 0) == (found[-1] if found else None)


def test_without_kinds_only_the_frontier_is_left() -> None:
    assert choose([], "Good. Fine", 8, 3) == Cut(3, FRONTIER)


def test_an_anchor_far_before_the_finding_is_found_too() -> None:
    text = "Good. X" + "x" * (3 * REACH) + " EVIL"
    assert choose([kind("sentence")], text, len(text) - 4, 0) == Cut(5, "sentence")


def test_what_is_forgotten_takes_no_memory() -> None:
    trail = Trail(KINDS)
    said = "一句话。And one more. "
    for number in range(3000):
        trail.feed(said)
        trail.forget(len(said) * number)
    kept, base = trail._tape
    assert len(kept) < 4 * 1024
    assert base > 50_000
    assert trail.cut(len(said) * 3000, len(said) * 2999) == Cut(len(said) * 3000 - 1, "word")


def test_every_file_of_the_room_is_a_kind() -> None:
    assert set(plugs("anchors")) == {"sentence", "word", "markdown", "json", "code", "entity"}
