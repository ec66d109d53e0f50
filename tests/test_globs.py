"""Names with wildcards: one or several, of which any may fit."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from gateway.globs import Globs, fits

READ: TypeAdapter[tuple[str, ...]] = TypeAdapter(Globs)


@pytest.mark.parametrize(("said", "read"), [("a*", ("a*",)), (["a", "b?"], ("a", "b?"))])
def test_one_may_stand_alone(said: Any, read: tuple[str, ...]) -> None:
    assert READ.validate_python(said) == read


@pytest.mark.parametrize("said", [[], "", ["a", ""], 7, None])
def test_what_could_never_fit_is_refused(said: Any) -> None:
    with pytest.raises(ValidationError):
        READ.validate_python(said)


@pytest.mark.parametrize(
    ("name", "globs", "yes"),
    [("qwen-7b", ("gpt*", "qwen-?b"), True), ("Qwen", ("qwen",), False), ("", ("*",), True), ("a", (), False)],
)
def test_any_of_them_counts(name: str, globs: tuple[str, ...], yes: bool) -> None:
    assert fits(name, globs) is yes
