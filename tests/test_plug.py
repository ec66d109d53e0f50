"""A word in YAML names a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pytest
from pydantic import TypeAdapter, ValidationError

import gateway
from gateway.checks import Check
from gateway.checks.words import Plug as Words
from gateway.plug import OneOf, Strict, plugs

HOME = Path(gateway.__file__ or "").parent


@pytest.mark.parametrize("room", ["checks", "backends", "surfaces"])
def test_each_file_with_a_plug_is_a_word(room: str) -> None:
    files = {path.stem for path in (HOME / room).glob("*.py") if "class Plug" in path.read_text(encoding="utf-8")}
    assert plugs(room).keys() == {name for name in files if not name.startswith("_")}


@pytest.mark.parametrize("room", ["checks", "backends"])
def test_the_word_is_the_file_s_name(room: str) -> None:
    for word, kind in plugs(room).items():
        assert kind.model_fields["type"].default == word


def test_a_field_of_a_room_takes_any_of_its_plugs() -> None:
    one_of: TypeAdapter[Check] = TypeAdapter(Annotated[Check, OneOf("checks")])
    assert isinstance(one_of.validate_python({"type": "words", "words": ["x"]}), Words)
    with pytest.raises(ValidationError, match="union_tag_invalid"):
        one_of.validate_python({"type": "wurds"})


def test_a_word_that_is_not_known_is_an_error_and_what_is_read_can_not_be_changed() -> None:
    class Small(Strict):
        size: int = 1

    with pytest.raises(ValidationError, match="extra_forbidden"):
        Small.model_validate({"sice": 2})
    with pytest.raises(ValidationError, match="frozen"):
        Small().size = 2
