"""Who may offer what where."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from gateway.anchors._marks import Ballot, Bars, Closed, Marks

SPANS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)).map(lambda p: Closed(min(p), max(p))), max_size=8)


@given(SPANS, st.integers(0, 31))
def test_bars_cover_what_lies_inside_of_one(spans: list[Closed], position: int) -> None:
    assert Bars(spans).cover(position) == any(span.start < position < span.end for span in spans)


def test_another_kind_s_stretch_closes_a_position() -> None:
    ballot = Ballot(["a", "b"], [Marks([3, 5, 9]), Marks([], [Closed(4, 8)])])
    assert [(p, ballot.kind(p)) for p in ballot.positions(0, 9)] == [(9, "a"), (5, None), (3, "a")]


def test_its_edges_are_open() -> None:
    ballot = Ballot(["a", "b"], [Marks([4, 8]), Marks([], [Closed(4, 8)])])
    assert [ballot.kind(4), ballot.kind(8)] == ["a", "a"]


def test_whoever_closes_may_offer_inside() -> None:
    ballot = Ballot(["a", "b"], [Marks([5]), Marks([5], [Closed(4, 8)])])
    assert ballot.kind(5) == "a"


def test_a_stretch_yields_to_those_it_names() -> None:
    ballot = Ballot(["a", "b", "c"], [Marks([5]), Marks([6]), Marks([], [Closed(4, 8, frozenset({"b"}))])])
    assert [ballot.kind(5), ballot.kind(6)] == [None, "b"]


def test_two_of_one_name_do_not_speak_for_each_other() -> None:
    ballot = Ballot(["e", "e"], [Marks([5], [Closed(0, 3)]), Marks([], [Closed(4, 8)])])
    assert ballot.kind(5) is None


def test_nobody_s_position_has_no_kind() -> None:
    assert Ballot([], []).kind(3) is None
    assert Ballot(["a"], [Marks([3, 7])]).positions(4, 6) == []
