"""`type: length`."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from gateway.types import View
from tests.sight import check, spans


def test_the_first_character_past_the_most_is_found() -> None:
    assert spans(check("length", max_chars=3), "abcd") == [(3, 4)]
    assert spans(check("length", max_chars=3), "abc") == []


def test_a_text_too_short_is_found_at_its_end() -> None:
    assert spans(check("length", min_chars=3), "ab") == [(2, 2)]
    assert spans(check("length", min_chars=3), "abc") == []


def test_both_bounds_may_be_given() -> None:
    looking = check("length", min_chars=2, max_chars=3)
    assert [bool(spans(looking, "🙂" * n)) for n in range(6)] == [True, True, False, False, True, True]


def test_characters_are_counted_and_not_bytes() -> None:
    assert spans(check("length", max_chars=3), "炸弹🙂") == []


def test_nothing_is_held_back() -> None:
    looking = check("length", min_chars=9, max_chars=10)
    assert looking.look(View("abc", final=False)) == ([], 3)


def test_it_counts_from_the_beginning_of_the_whole_text() -> None:
    looking = check("length", max_chars=10)
    assert looking.look(View("abcdef", begin=2, base=6, final=False)) == ([(4, 5)], 6)
    assert looking.look(View("abcdef", begin=5, base=6, final=False)) == ([], 6)


def test_one_bound_at_least_must_be_given() -> None:
    with pytest.raises(ValidationError, match="give `max_chars`, `min_chars` or both"):
        check("length")


@pytest.mark.parametrize("fields", [{"max_chars": 0}, {"min_chars": -1}, {"max_chars": "many"}])
def test_a_bound_is_a_number_of_one_at_least(fields: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        check("length", **fields)
