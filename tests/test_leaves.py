"""JSON from others, and the texts inside it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway import leaves

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=2), inner, max_size=3)),
    max_leaves=10,
)


def at(value: Any, path: leaves.Path) -> Any:
    for step in path:
        value = value[step]
    return value


def test_every_text_is_found_in_order_with_its_place() -> None:
    value = {"a": "x", "b": [1, "y", {"c": "z", "d": None}], "e": ""}
    assert list(leaves.texts(value)) == [(("a",), "x"), (("b", 1), "y"), (("b", 2, "c"), "z")]


def test_a_text_right_under_a_skipped_key_is_left_out_and_no_other() -> None:
    value = {"id": "x", "a": {"id": ["y"], "b": "z"}}
    assert [text for _, text in leaves.texts(value, {"id"})] == ["y", "z"]


def test_a_text_alone_stands_at_the_empty_path() -> None:
    assert list(leaves.texts("x")) == [((), "x")]
    assert leaves.replaced("x", (), "y") == "y"


def test_what_stands_at_a_path_is_found() -> None:
    assert leaves.at([{"a": {"b": 1}}], (0, "a", "b")) == 1


def test_a_replaced_text_leaves_the_old_value_alone() -> None:
    value = {"a": [{"b": "x"}, {"c": "y"}]}
    new = leaves.replaced(value, ("a", 0, "b"), "z")
    assert new == {"a": [{"b": "z"}, {"c": "y"}]}
    assert value == {"a": [{"b": "x"}, {"c": "y"}]}
    assert new["a"][1] is value["a"][1]


@given(VALUES)
def test_each_found_text_can_be_replaced_where_it_was_found(value: Any) -> None:
    for path, text in leaves.texts(value):
        assert at(value, path) == text
        assert at(leaves.replaced(value, path, "new"), path) == "new"


def test_what_is_nested_without_measure_is_refused_and_not_skipped() -> None:
    deep: Any = "bomb"
    for _ in range(5_000):
        deep = [deep]
    with pytest.raises(RecursionError):
        list(leaves.texts(deep))


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b'{"a": [1, "x"]}', {"a": [1, "x"]}),
        (bytearray(b"{}"), {}),
        (b"", {}),
        (b"[1]", {}),
        (b"null", {}),
        (b'"a"', {}),
        (b'{"a":', {}),
        (b"\xff", {}),
        (b"[" * 10_000, {}),
    ],
)
def test_what_is_no_object_is_an_empty_one(raw: bytes, told: dict[str, Any]) -> None:
    assert leaves.parsed(raw) == told
