"""Fields of requests, and the texts inside them."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.errors import BadRequest
from gateway.surfaces._asked import beside, choices_asked, field, found, together, wants_usage
from gateway.types import Text


def test_texts_are_found_with_where_they_stand() -> None:
    value = [{"text": "a", "type": "no", "deep": {"x": "b"}}]
    assert list(found(value, ("f", 0), "user")) == [
        Text(("f", 0, 0, "text"), "user", "a"),
        Text(("f", 0, 0, "deep", "x"), "user", "b"),
    ]


def test_several_texts_in_a_row_are_one_as_well() -> None:
    parts = [{"text": "a"}, {"image": 1}, {"text": "b"}]
    assert list(together(parts, ("f",), "user")) == [Text(("f",), "user", "a\nb", whole=False)]
    assert list(together(parts[:2], ("f",), "user")) == []
    assert list(together("ab", ("f",), "user")) == []


def test_texts_beside_the_conversation_are_those_of_the_fields_that_are_named() -> None:
    body = {"tools": [{"name": "f", "id": "not read"}], "text": "no", "documents": ["d"]}
    assert list(beside(body, {"tools", "documents", "missing"})) == [
        Text(("documents", 0), "request", "d"),
        Text(("tools", 0, "name"), "request", "f"),
    ]


def test_a_field_has_its_kind_or_its_default() -> None:
    body = {"n": 2, "stream": None, "yes": True}
    assert (field(body, "n", int, 1), field(body, "stream", bool, False), field(body, "gone", str, "x")) == (
        2,
        False,
        "x",
    )
    for name, kind in (("n", str), ("yes", int)):
        with pytest.raises(BadRequest, match=f"`{name}` must be of type {kind.__name__}"):
            field(body, name, kind, kind())


def test_usage_is_wanted_by_who_says_so() -> None:
    assert wants_usage({"stream_options": {"include_usage": True}})
    assert not wants_usage({"stream_options": {}})
    assert not wants_usage({})


@pytest.mark.parametrize(("body", "count"), [({}, 1), ({"n": 128}, 128), ({"n": None}, 1)])
def test_how_many_choices_are_asked_for(body: dict[str, Any], count: int) -> None:
    assert choices_asked(body) == count


@pytest.mark.parametrize("n", [0, -1, 129])
def test_too_many_choices_and_none_are_refused(n: int) -> None:
    with pytest.raises(BadRequest, match="`n` must be from 1 to 128"):
        choices_asked({"n": n})
