"""`type: repeat`."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from gateway.checks.repeat import STEP
from gateway.types import View
from tests.sight import check, spans

LOOP = check("repeat", times=6, min_chars=60)


@pytest.mark.parametrize("unit", ["ha ", "我不知道。", "🙂", "a", "I am sorry, I can't. ", "e\u0301", "\0"])
def test_a_loop_is_found(unit: str) -> None:
    text = "An answer that began well. " + unit * 300
    assert len(spans(LOOP, text)) == 1


def test_the_finding_begins_where_the_loop_was_noticed_and_not_where_it_began() -> None:
    ((start, end),) = spans(LOOP, "x" * 999)
    assert (start, end) == (STEP, STEP + 1)


@pytest.mark.parametrize(
    "text",
    [
        "No sentence here says again what another has said before, however long all of this goes on for anybody.",
        "ha " * 19,
        "He said: ha ha ha ha ha. " + "And then something quite different came, and then it went on. ",
        "\n".join(f"- item number {number}" for number in range(100)),
        "",
    ],
)
def test_what_is_no_loop_is_let_alone(text: str) -> None:
    assert spans(LOOP, text) == []


def test_a_loop_needs_as_many_rounds_as_the_rule_says() -> None:
    unit = "The answer is forty-two, and that is all there is to say about it. "
    assert spans(check("repeat", times=4, min_chars=60), unit * 3) == []
    assert spans(check("repeat", times=4, min_chars=60), unit * 8) != []


def test_a_loop_whose_unit_is_too_long_to_look_back_for_is_let_alone() -> None:
    unit = "".join(map(chr, range(0x4E00, 0x4E00 + 500)))
    assert spans(check("repeat", times=6), unit * 20) == []


def test_nothing_is_held_back() -> None:
    text = "ha " * 10
    assert LOOP.look(View(text, final=False)) == ([], len(text))


def test_the_places_looked_at_are_fixed_in_the_whole_text() -> None:
    text = "".join(map(chr, range(0x4E00, 0x4E00 + 3 * STEP // 2))) + "x" * 3 * STEP
    ((place, _),) = spans(LOOP, text)
    assert place % STEP == 0
    for base in (1, 10, STEP - 1):
        assert LOOP.look(View(text[base:], begin=STEP - base, base=base))[0] == [(place - base, place - base + 1)]


def test_a_loop_is_told_once_and_another_one_again() -> None:
    between = "".join(map(chr, range(0x4E00, 0x4E00 + 3 * STEP)))
    assert len(spans(LOOP, "x" * 5 * STEP)) == 1
    assert len(spans(LOOP, "x" * 5 * STEP + between + "y" * 5 * STEP)) == 2


@pytest.mark.parametrize("fields", [{"times": 2}, {"times": 65}, {"min_chars": 31}, {"min_chars": 2049}])
def test_bounds_that_make_no_sense_are_refused(fields: dict[str, int]) -> None:
    with pytest.raises(ValidationError):
        check("repeat", **fields)


@pytest.mark.parametrize("filler", ["ab", "abcdefghijklmnop", "🙂\0"])
def test_a_megabyte_of_a_loop_is_one_loop(filler: str) -> None:
    assert len(spans(LOOP, filler * ((1 << 20) // len(filler)))) == 1


def test_a_megabyte_without_a_loop_has_none() -> None:
    assert spans(LOOP, "".join(f"{number:x}," for number in range(180_000))) == []
