"""The promises of a draft that is cut back and goes on, for any text, any anchors and any cut of the stream.

What the client reads is what stood before the cut and then the continuation; nothing that has left is changed, and what
was found is in neither. Where it is cut depends on the text alone, not on how the network cut the stream: the frontier
only ever stands at anchors, and no text that follows takes one back. Entities are the exception: that a term has begun
shows only when it is whole, so a cut there can depend on how much of it had come.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.anchors import choose
from gateway.anchors.json import closing
from gateway.types import Action, Finding
from gateway.window import Window
from tests.anchors.sight import kind
from tests.rewinds import repaired, rewinds
from tests.rig import DONE, delta, payloads, said, usage_event
from tests.sight import lanes
from tests.window.test_properties import Case, cases, in_order
from tests.wires import cut

BAD = ("guaranteed", "稳赚")
ATOMS = [
    "The ",
    "fund ",
    "is",
    " safe",
    "。",
    ". ",
    "\n",
    "\n\n",
    "这款",
    "产品",
    "，",
    *BAD,
    "guaran",
    "teed",
    "稳",
    "赚",
]
ATOMS += [
    "e\u0301",
    "👨\u200d👩",
    "\r\n",
    "No. ",
    "3.5",
    "“",
    "”",
    '"',
    "- ",
    "1. ",
    "(",
    ")",
    "a",
    " ",
    "!",
    "？",
    "Dr. ",
]
TEXTS = st.lists(st.sampled_from(ATOMS), max_size=14).map("".join)
ANCHORS: dict[str, Sequence[dict[str, Any]]] = {
    "word": [{"type": "word"}],
    "sentence": [{"type": "sentence"}],
    "either": [{"type": "sentence"}, {"type": "word"}],
    "markdown": [{"type": "markdown"}, {"type": "word"}],
    "json": [{"type": "json"}],
    "json words": [{"type": "json", "mode": "word"}, {"type": "word"}],
}


def streamed(draw: st.DrawFn, text: str) -> list[bytes]:
    """A chat stream that says this text, in whatever events, in whatever pieces."""
    places = draw(st.one_of(st.just(list(range(len(text)))), st.lists(st.integers(0, len(text)), max_size=8)))
    edges = [0, *sorted({place for place in places if 0 < place < len(text)}), len(text)]
    parts = [text[begin:end] for begin, end in itertools.pairwise(edges)]
    events = [delta("", role="assistant"), *map(delta, parts), delta(finish="stop"), usage_event(), DONE]
    return torn(draw, b"".join(events))


def torn(draw: st.DrawFn, wire: bytes) -> list[bytes]:
    return cut(wire, draw(st.one_of(st.just(range(0, len(wire), 50)), st.sets(st.integers(0, len(wire)), max_size=9))))


def cut_at(text: str, anchors: Sequence[dict[str, Any]]) -> str | None:
    """What a whole text is cut back to; None if nothing is found in it."""
    window = Window(lanes(rewinds()))
    window.feed(text, final=True)
    if window.halted is None:
        return None
    made = [kind(one["type"], **{name: value for name, value in one.items() if name != "type"}) for one in anchors]
    return text[: choose(made, text, window.halted.start, 0).position]


def finishes(body: bytes) -> list[str]:
    return [c["finish_reason"] for data in payloads(body)[:-1] for c in data["choices"] if c["finish_reason"]]


@pytest.mark.long
@pytest.mark.parametrize("anchors", ANCHORS)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_the_client_reads_what_stands_and_then_what_goes_on(anchors: str, data: st.DataObject) -> None:
    text = data.draw(TEXTS) + data.draw(st.sampled_from(BAD)) + data.draw(TEXTS)
    more = data.draw(TEXTS)

    def turn(_kept: str) -> Iterable[bytes]:
        return data.draw(st.composite(streamed)(more))

    rule = rewinds(anchors=ANCHORS[anchors], budget=3)
    got = repaired(data.draw(st.composite(streamed)(text)), turn, rule)
    read = said(got.body)
    assert got.fault is None
    assert got.kept[0] == cut_at(text, ANCHORS[anchors])
    assert got.kept == got.read
    assert [first for first, then in itertools.pairwise([*got.kept, read]) if not then.startswith(first)] == []
    assert not any(word in read for word in BAD)
    if len(got.kept) == 1 and not got.draft.halted:
        assert read == got.kept[0] + more
    if not got.draft.halted:
        assert got.answers == {0: read}
    assert finishes(got.body) == ["content_filter" if got.draft.halted else "stop"]
    assert got.body.count(b'"role"') == 1
    assert got.body.endswith(DONE)


WORDS = st.lists(st.sampled_from(["the", "这款", '"q"', "\\", "\n", "🙂", "e\u0301", "{", "]:", *BAD]), max_size=5)
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-99, 99), st.floats(-9, 9), WORDS.map(" ".join))
KEYS = st.sampled_from(["a", "名", '"k"', "note"])
VALUES = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3))


@pytest.mark.long
@pytest.mark.parametrize("anchors", ["json", "json words"])
@settings(max_examples=60, deadline=None)
@given(value=st.dictionaries(KEYS, VALUES, min_size=1), indent=st.sampled_from([None, 2]), data=st.data())
def test_json_that_is_cut_back_can_still_become_whole(
    anchors: str, value: dict[str, Any], indent: int | None, data: st.DataObject
) -> None:
    """Whatever is kept: here it goes on with no more than what it needs."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)

    def turn(kept: str) -> Iterable[bytes]:
        return data.draw(st.composite(streamed)(closing(kept)))

    got = repaired(data.draw(st.composite(streamed)(text)), turn, rewinds(anchors=ANCHORS[anchors]))
    read = said(got.body)
    json.loads(read)
    assert got.kept[:1] == [kept for kept in [cut_at(text, ANCHORS[anchors])] if kept is not None]
    assert not any(word in read for word in BAD)
    assert (read == text) is (not got.kept)


# What is pardoned.


def pardoning(window: Window, pieces: Sequence[str]) -> tuple[str, list[Finding], Finding | None]:
    """What leaves of a text in which every finding that would rewind is taken for a tag; what was found; what halts."""
    waiting: list[tuple[int, str]] = []
    found: list[Finding] = []
    left, place = "", 0
    for number, piece in enumerate(pieces, 1):
        waiting.append((place, piece))
        place += len(piece)
        window.feed(piece, final=number == len(pieces))
        while window.halted is not None and window.halted.action is Action.REWIND:
            window.pardon(Action.TAG, final=number == len(pieces))
        while waiting and (waiting[0][0] + len(waiting[0][1]) <= window.frontier or window.halted):
            start, text = waiting.pop(0)
            left += window.render(start, text)
        found += window.taken()
    return left, in_order(found), window.halted


MEANT = (Action.REWIND, Action.REWIND, Action.BLOCK, Action.MASK, Action.TAG)


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(cases(actions=MEANT))
def test_what_is_pardoned_is_as_if_it_had_never_halted(case: Case) -> None:
    meek = tuple((n, Action.TAG if action is Action.REWIND else action) for n, action in case.rules)
    left, found, halted = pardoning(Window(case.lanes), case.pieces)
    other = Case(meek, case.pieces)
    as_tagged = pardoning(Window(other.lanes), case.pieces)
    assert (left, halted) == (as_tagged[0], as_tagged[2])
    if halted is None:  # else a tag behind what halts was told before that was known
        assert found == as_tagged[1]
