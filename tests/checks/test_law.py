"""The scanner's law, for every kind of check there is: what a stream shows early is what the whole text shows.

A new check needs its place in SAMPLES, or this fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.checks import Check, Scanner
from gateway.plug import plugs
from gateway.types import View
from tests.sight import check

SAMPLES: dict[str, list[dict[str, Any]]] = {
    "regex": [
        {"pattern": "abab"},
        {"pattern": "aba|b c"},
        {"pattern": r"\bab{1,3}\b"},
        {"pattern": r"a\d{2,4}b?"},
        {"pattern": "甲.{0,4}乙"},
        {"pattern": r"(?m)^\s{0,2}甲$"},
        {"pattern": r"\Aab"},
        {"pattern": r"乙\Z"},
        {"pattern": "(?:甲乙?){2}", "ignore_case": False},
        {"pattern": "a.{1,3}?b|ab"},
        {"pattern": "(?:a?b?){1,2}c"},
    ],
    "words": [
        {"words": ["bomb", "炸弹", "bo"]},
        {"words": ["bom", "炸", "弹药", "炸弹药", "kill you", "ab"]},
        {"words": ["o", "m bo", "é", "ßa", "ak炸", "v2"]},
    ],
    "entropy": [{}, {"window": 8}],
    "length": [{"max_chars": 5}, {"min_chars": 9}, {"min_chars": 3, "max_chars": 12}],
    "repeat": [{"times": 3, "min_chars": 32}, {"times": 6, "min_chars": 240}],
    "schema": [{"json_schema": {"type": "integer"}}, {"json_schema": {"type": "array"}, "allow_fence": False}],
    "pii": [{}, {"kinds": ["card", "cn_id"]}, {"kinds": ["email"]}, {"kinds": ["iban", "phone"]}],
}
FRAGMENTS: dict[str, Sequence[str]] = {
    "regex": ["abab", "ababa", "ab", "b c", "a12b", "a9999b", "甲xx乙", "\n甲\n", "甲乙甲", "乙", "abc"],
    "words": [
        "bomb",
        "炸弹",
        "炸弹药",
        "kill you",
        "ab",
        "o",
        "é",
        "ßa",
        "v2",
        "ak炸",
        "b.o.m.b",
        "炸 弹",
        "b o",
        "carbomb",
        "\u200b" * 20,
    ],
    "entropy": ["abc", "甲乙"],
    "length": ["abc", "甲乙"],
    "repeat": ["ab" * 30, "甲" * 130, "abc " * 40, "x" * 700],
    "schema": ["12", "[1, 2]", "```json\n[]\n```", '{"a": 1}', "\n"],
    "pii": [
        "4111111111111111",
        "4111 1111 1111 1111",
        "4111-1111-1111-1112",
        "11010519491231002X",
        "DE89 3704 0044 0532 0130 00",
        "GB82WEST12345698765432",
        "13812345678",
        "+86 138 1234 5678",
        "+1 (415) 555-2671",
        "john@example.com",
        "a@b.io",
        "4 4 4 4",
    ],
}
WIDE = str.maketrans({chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F)})
NOISE = st.text(st.sampled_from("ab1 .-\n甲炸弹é🙂\u0301\0\u200bmo4@+"), max_size=3)


@cache
def scanner(kind: str) -> Scanner:
    checks: list[Check] = [check(kind, **fields) for fields in SAMPLES[kind]]
    return checks[0].family().fuse(checks)


@st.composite
def fragment(draw: st.DrawFn, kind: str) -> str:
    """What a rule looks for, or a part of it, or a disguise."""
    text = draw(st.sampled_from(FRAGMENTS[kind]))
    how = draw(st.sampled_from(["whole", "whole", "head", "tail", "wide", "upper", "thin", "spelled", "woven", "off"]))
    place = draw(st.integers(0, len(text)))
    match how:
        case "head":
            return text[:place]
        case "tail":
            return text[place:]
        case "wide":
            return text.translate(WIDE)
        case "upper":
            return text.upper()
        case "thin":
            return text[:place] + "\u200b" * draw(st.integers(1, 3)) + text[place:]
        case "spelled" if len(text) < 40:
            return draw(st.sampled_from([".", " ", "..", "- "])).join(text)
        case "woven":
            other = draw(st.sampled_from(FRAGMENTS[kind]))
            return text[:place] + other + text[place:]
        case "off":
            return text[:place] + draw(st.sampled_from("0a甲")) + text[place + 1 :]
    return text


def texts(kind: str) -> st.SearchStrategy[str]:
    return st.lists(st.one_of(fragment(kind), fragment(kind), NOISE), max_size=6).map("".join)


@st.composite
def views(draw: st.DrawFn, kind: str) -> tuple[str, int, int, int]:
    """A text, where it is cut, from where on it is open, and where it stands in the whole."""
    text = draw(texts(kind))
    cut = draw(st.integers(0, len(text)))
    begin = draw(st.one_of(st.just(0), st.integers(0, cut)))
    base = draw(st.sampled_from([0, 0, 3, 128, 200]))
    return text, cut, begin, base


def test_every_kind_of_check_is_held_to_the_law() -> None:
    assert SAMPLES.keys() == FRAGMENTS.keys() == plugs("checks").keys()


@pytest.mark.long
@pytest.mark.parametrize("kind", sorted(SAMPLES))
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_what_a_part_shows_before_its_hold_is_what_the_whole_text_shows_there(kind: str, data: st.DataObject) -> None:
    text, cut, begin, base = data.draw(views(kind))
    active = data.draw(st.frozensets(st.integers(0, len(SAMPLES[kind]) - 1), min_size=1))
    part = scanner(kind).scan(View(text[:cut], begin, base, False), active)
    whole = scanner(kind).scan(View(text, begin, base, True), active)
    assert part.end == cut
    assert not whole.alive
    assert {number for number, _ in part.alive} <= active
    for number in active:
        hold = min((start for of, start in part.alive if of == number), default=cut)
        assert begin <= hold <= cut
        now = sorted(hit for hit in part.hits if hit.number == number and hit.start < hold)
        then = sorted(hit for hit in whole.hits if hit.number == number and begin <= hit.start < hold)
        assert now == then, f"check {number}, hold {hold}"
    assert all(begin <= hit.start <= hit.end <= cut and hit.number in active for hit in part.hits)


@pytest.mark.long
@pytest.mark.parametrize("kind", sorted(SAMPLES))
@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_before_a_scanner_says_to_wake_it_another_look_tells_nothing_new(kind: str, data: st.DataObject) -> None:
    text, cut, begin, base = data.draw(views(kind))
    active = data.draw(st.frozensets(st.integers(0, len(SAMPLES[kind]) - 1), min_size=1))
    part = scanner(kind).scan(View(text[:cut], begin, base, False), active)
    later = data.draw(st.integers(cut, len(text)))
    if begin == cut or base + later >= part.wake:
        return
    again = scanner(kind).scan(View(text[:later], begin, base, False), active)
    assert sorted(again.hits) == sorted(part.hits)
    assert sorted(again.alive) == sorted(part.alive)


@pytest.mark.long
@pytest.mark.parametrize("kind", sorted(SAMPLES))
@settings(max_examples=60, deadline=None)
@given(data=st.data())
@example(data=None).via("the empty text")
def test_a_check_alone_sees_what_it_sees_among_others(kind: str, data: st.DataObject | None) -> None:
    text = data.draw(texts(kind)) if data else ""
    everything = scanner(kind).scan(View(text), frozenset(range(len(SAMPLES[kind]))))
    for number, fields in enumerate(SAMPLES[kind]):
        spans, hold = check(kind, **fields).look(View(text))
        assert hold == len(text)
        assert sorted(spans) == sorted((hit.start, hit.end) for hit in everything.hits if hit.number == number)
