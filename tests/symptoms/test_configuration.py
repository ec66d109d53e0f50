"""Files that can be served, and files that can't."""

from __future__ import annotations

from gateway.symptoms import Configuration
from gateway.symptoms.configuration import Plug
from tests.symptoms.facts import lights, seen


def test_what_builds_is_green_with_its_revision() -> None:
    (sign,) = seen(Plug())
    assert (sign.light, "3 rules, revision abc" in sign.seen.en) == ("green", True)


def test_each_thing_that_is_wrong_is_red() -> None:
    assert lights(Plug(), configuration=Configuration("x", ("x:1: a", "x:2: b"))) == ["red", "red"]
