"""What requests in foreign formats share on their way to chat."""

from __future__ import annotations

from typing import Any

import pytest

from gateway.errors import BadRequest
from gateway.surfaces._inward import (
    Fields,
    a_list,
    a_text,
    an_object,
    flat,
    image_part,
    nothing_else,
    one_beginning,
    renamed,
    text_part,
)

FIELDS = Fields(translated={"model"}, idle={"hint"}, refused={"kept": "nothing is kept"})


@pytest.mark.parametrize(
    "body",
    [
        {"model": "m", "hint": 1},
        {"kept": None},
        {"kept": False},
        {"kept": []},
        {"seed": 1, "top_k": 5},
        {"kv_transfer_params": {"x": 1}, "cache_salt": "s"},
        {"new": None},
    ],
)
def test_fields_that_are_known_or_say_nothing_are_taken(body: dict[str, Any]) -> None:
    FIELDS.check(body)


@pytest.mark.parametrize(
    ("body", "param", "words"),
    [
        ({"kept": "x"}, "kept", "nothing is kept"),
        ({"kept": 0}, "kept", "nothing is kept"),
        ({"new": 1}, "new", "leave it out"),
        ({"n": 2}, "n", "leave it out"),
    ],
)
def test_other_fields_are_named_and_refused(body: dict[str, Any], param: str, words: str) -> None:
    with pytest.raises(BadRequest, match=words) as caught:
        FIELDS.check(body)
    assert caught.value.param == param


def test_a_value_of_another_kind_is_named() -> None:
    for read in (an_object, a_list, a_text):
        with pytest.raises(BadRequest) as caught:
            read(3, "a.b")
        assert caught.value.param == "a.b"


def test_what_an_object_says_beside_what_is_known_is_named() -> None:
    nothing_else({"a": 1, "b": None, "c": False}, {"a"}, "x")
    with pytest.raises(BadRequest) as caught:
        nothing_else({"a": 1, "b": ""}, {"a"}, "x[0]")
    assert caught.value.param == "x[0].b"


def test_texts_alone_are_one_text_and_with_media_they_stay_parts() -> None:
    assert flat([text_part("一"), text_part("b")]) == "一\nb"
    parts = [text_part("a"), image_part("http://x", "low")]
    assert flat(parts) == parts
    assert parts[1] == {"type": "image_url", "image_url": {"url": "http://x", "detail": "low"}}


def test_what_the_system_says_first_is_one_message() -> None:
    system, late = ({"role": "system", "content": words} for words in ("a", "b"))
    user = {"role": "user", "content": "u"}
    assert one_beginning([system, late, user, late]) == [{"role": "system", "content": "a\n\nb"}, user, late]
    assert one_beginning([{"role": "system", "content": ""}, user]) == [user]
    assert one_beginning([user]) == [user]


def test_settings_get_chat_s_names_and_those_of_engines_keep_theirs() -> None:
    body = {"max": 3, "seed": 1, "top_k": None, "stop": ["x"], "other": 1}
    assert renamed(body, {"max": "max_tokens", "absent": "x"}) == {"max_tokens": 3, "seed": 1}
